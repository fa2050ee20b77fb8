"""Saved detectors: reading, applying and exporting them."""

"""Formats of tables, one module each; the registry lists them."""

"""Measures, intervals, calibrators and learners: what has no value, and why."""

"""From a table to a detector."""

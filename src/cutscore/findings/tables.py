"""Files and queries that are read and written."""

"""Tables that are larger than memory: sweeps and rows of files, batch by batch."""

"""Files larger than memory, and clusters."""

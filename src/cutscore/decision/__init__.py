"""The choice of a threshold, and the operating point it leads to."""

"""The sweep of a score over its labels, and what follows: curves, areas, hull, proper scores."""

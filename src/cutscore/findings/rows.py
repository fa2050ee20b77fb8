"""Columns of arrays and tables: labels, scores, weights, names of columns."""

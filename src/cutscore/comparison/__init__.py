"""What needs the rows and not their counts alone: tests of two scores of the same rows, resampled
units, pairs inside groups; and how many rows such a test takes."""

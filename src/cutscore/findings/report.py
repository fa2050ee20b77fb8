"""What should be known before the numbers of a report are believed."""

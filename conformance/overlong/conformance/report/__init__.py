"""Reports: the same results, for different readers."""

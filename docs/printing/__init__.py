"""Pages that are read off the code."""

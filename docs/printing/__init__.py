"""Pages generated from code and data."""

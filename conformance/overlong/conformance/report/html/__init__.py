"""One-file HTML."""

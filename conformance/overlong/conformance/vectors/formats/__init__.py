"""How vectors are written, a module for each format."""

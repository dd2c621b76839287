"""Writers of vectors, a module for each format."""

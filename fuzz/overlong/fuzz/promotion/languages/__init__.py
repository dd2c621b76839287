"""Writers of regression tests, a module for each language."""

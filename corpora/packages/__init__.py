"""Data packages, a module for each language; ``python -m corpora.packages`` writes them all.

Each module has a function that takes the files which every package holds and returns the packages, by their names.
"""

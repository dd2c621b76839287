"""The vectors: the families and suites that make them, the files that carry them, and their stable ids.

The input is the grammar and its automaton; the output is vectors, one at a time or in columns, with their
provenance. This code must not know targets or their answers.
"""

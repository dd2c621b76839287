"""What is asked: vectors, the families and suites that make them, the files that carry them, and their stable ids.

In come the grammar and its automaton; out come vectors, one at a time or in columns, with their provenance. Nothing
here may know a target or an answer of one.
"""

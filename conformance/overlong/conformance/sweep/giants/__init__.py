"""Strings of thousands of millions of octets, for functions that only validate: one memory, mapped again and again.

In: grids with text that is not made (``Grid.between``), and a function at an address. Out: kinds of divergence, and one
sentence on them. Must not know: octets of such a string; nothing here or elsewhere makes them.
"""

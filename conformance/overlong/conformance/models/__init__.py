"""Decoders and suites as automata: a model learned of a decoder (identify), and what a list of tests can tell (score).

In come a target to be asked, or a list of strings; out come a learned model, or a mutation score. Nothing here may know
sweeps or certificates.
"""

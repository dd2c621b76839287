"""Decoders and suites as automata: the learned model of a decoder (identify), the faults that a list catches (score).

The input is a target, or a list of strings; the output is a learned model, or a mutation score. This code must not know
sweeps or certificates.
"""

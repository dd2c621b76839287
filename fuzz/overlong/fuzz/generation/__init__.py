"""Inputs made of numbers: a grammar's sequences, mutated and spliced, and the features of the reference they reach.

A seed and the number of an input give octets. Nothing here knows a target.
"""

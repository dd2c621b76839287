"""Inputs made of numbers: a grammar's sequences, mutated and spliced, and the features of the reference they reach.

In come a seed and an input's number; out come octets. Nothing here knows a target.
"""

"""A campaign: its store, its time budget, its workers, and the triage of their results.

A campaign turns targets, a seed and time into findings, in a folder that survives any interruption. The engine makes
the inputs and asks the targets.
"""

"""A campaign: its store, its budget of time, its workers, and the triage of what they saw.

In come targets, a seed and time; out come findings in a folder that survives any interruption. How inputs are made,
and how a target is asked, is the engine's affair.
"""

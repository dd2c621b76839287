"""The language between harness and target: frames, observations, and the stable codes of divergences.

In come octets from a pipe; out come observations, greetings and names of kinds. Nothing here may know which answer is
right, nor how a target is started.
"""

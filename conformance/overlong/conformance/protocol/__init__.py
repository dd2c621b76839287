"""The words between harness and target: frames, what a target did, and the stable codes of what can be wrong.

In come octets from a pipe; out come observations, greetings and names of kinds. Nothing here may know which answer is
right, nor how a target is started.
"""

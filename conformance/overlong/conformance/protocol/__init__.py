"""The language between harness and target: frames, observations, and the stable codes of divergences.

The input is octets from a pipe; the output is observations, greetings and names of kinds. This code must not know which
answer is right, nor how to start a target.
"""

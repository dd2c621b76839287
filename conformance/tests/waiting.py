"""How long tests wait for what takes seconds on an idle machine: longer is a hang, however slow the machine is."""

HUNG = 600.0
"""Seconds after which a process that a test started, or an event that it waits for, is given up."""

"""A verdict: the runner, the second looks at what diverges (triage), sweeps, matrix, replay, verify and self-test.

In come a target and what to ask; out come a run and its certificate. Nothing here may know how a result is shown.
"""

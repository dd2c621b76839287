"""A verdict: the runner, the re-examination of divergences (triage), sweeps, matrix, replay, verify and self-test.

In: a target and the questions for it. Out: a run and its certificate. Must not know: how a result is shown.
"""

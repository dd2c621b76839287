"""Executors: many generated inputs asked of one target, in its own process, in columns or one by one.

In come a job and numbers of inputs; out come divergences. Nothing here knows which engine or campaign wants them.
"""

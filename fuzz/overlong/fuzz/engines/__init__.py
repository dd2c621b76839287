"""Engines: whatever makes inputs, asks the targets, and tells what diverges.

In comes a work unit; out comes its result. No engine knows a campaign's store, or what became of its results.
"""

"""Engines make inputs, ask the targets, and report divergences.

An engine turns a work unit into its result. It does not know a campaign's store, or the fate of its results.
"""

"""Sweeps over very many strings: shards of plans, asked at the target's speed, counted, and summarised.

In: a plan and a target. Out: tallies, examples and the language on which the target differs. Must not know: suites,
certificates.
"""

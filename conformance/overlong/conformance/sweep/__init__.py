"""Very many strings: plans cut into shards, asked at the speed of the target, counted, and summarised as languages.

In come a plan and a target; out come tallies, examples and the language on which the target differs. Nothing here may
know suites or certificates.
"""

"""The expected answers, the comparison with a target's answers, findings, and explanations.

In: vectors and observations. Out: findings, each with its code and its place. Must not know: how octets reach a
target, and how findings are used.
"""

"""The expected answers, the comparison with a target's answers, findings, and explanations.

In come vectors and observations; out come findings, each with its code and its place. Nothing here may know how octets
are brought to a target, nor what becomes of a finding.
"""

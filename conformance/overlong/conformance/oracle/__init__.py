"""What is right, and what is wrong with an answer: the expected answer, the comparison, findings and explanations.

In come vectors and observations; out come findings, each with its code and its place. Nothing here may know how octets
are brought to a target, nor what becomes of a finding.
"""

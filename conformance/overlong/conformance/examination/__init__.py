"""Why a decoder diverges: in goes a target and one question that it answers wrongly, out comes an explanation.

The room does not describe the failures that a plan happened to meet. It varies one factor at a time around the
question, takes the conjunction that explains the answers, and checks it on fresh questions. The oracle says what is
right. The room must not know plans, suites and campaigns, nor how an explanation is shown.
"""

"""Why a decoder diverges: in goes a target and one question that it answers wrongly, out comes an explanation.

The room does not describe the failures that a plan happened to meet. It varies one factor at a time around the
question, takes the conjunction that explains the answers, and checks it on fresh questions. The oracle says what is
right. The room must not know plans, suites and campaigns, nor how an explanation is shown.

``examine`` chooses a question, and ``asking`` asks. The ``course`` of a whole input finds its ``least`` form, looks
whether a few strings show the cause, learns ``words``, varies their surroundings in an ``inquiry``, and decides which
factors of a place in ``text`` matter (``rules``). ``streams``, ``encoders`` and ``functions`` are the courses of the
others. What is learned is a ``condition``, which has a ``sentence``, and says of other divergences whether it predicts
them. What cannot be explained is made less.
"""

"""Many decoders as data that can be kept: a matrix, with where each decoder comes from and what is documented of it.

``kept.py`` makes the data of a matrix's report, ``error_modes.py`` learns how decoders replace whose error mode is not
the one they declare, ``confirmation.py`` asks again by a program that does not know overlong.
"""

"""A survey of many decoders as data: a matrix, with the origin of each decoder and its documented behaviour.

``kept.py`` makes the data from a matrix's report, ``learning.py`` learns the replacement of decoders whose error
mode is not the declared one, ``confirmation.py`` asks again by a program independent of overlong.
"""

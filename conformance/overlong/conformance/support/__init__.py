"""Helpers for all rooms, which know none of them: text made safe, whole files, strict JSON, the clock, signals.

The input is text, paths and octets; the output is the same, safe to show or to keep. This code must not know what a
decoder is.
"""

"""What any room needs, and what knows none of them: text made safe, whole files, strict JSON, the clock, signals.

In come text, paths and octets; out come the same, safe to show or to keep. Nothing here may know what a decoder is.
"""

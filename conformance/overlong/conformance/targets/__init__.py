"""Brings octets to a decoder: processes in a sandbox, adapters, built-in decoders, recorded answers.

In: a target's name and batches of octets. Out: observations. Must not know: the right answers.
"""

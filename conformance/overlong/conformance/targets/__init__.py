"""How octets are brought to a decoder: processes in a sandbox, adapters, built-in decoders, recorded answers.

In come a target's name and batches of octets; out come observations. Nothing here may know which answer is right.
"""

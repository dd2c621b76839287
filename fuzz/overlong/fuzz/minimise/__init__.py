"""The least input that shows a divergence, and the bucket of its cause.

In come an input and a target; out come the shortlex-least input and a key that all inputs of one cause share.
"""

"""The least input that shows a divergence, and the bucket of its cause.

From an input and a target they give the shortlex-least input, and a key that all inputs of one cause share.
"""

"""Inputs that are generated, and what becomes of them."""

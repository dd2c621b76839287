"""Inputs made by number: tokens of the grammar, put together."""

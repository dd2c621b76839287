"""Identify a decoder: learn its machines, and compare them with every dialect and error mode."""

"""Compiled loops that make inputs by number, ask them and judge them. All of it imports Numba: import it late."""

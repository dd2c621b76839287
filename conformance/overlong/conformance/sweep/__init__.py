"""Sweeps: every string of a plan, at the speed of the target. ``docs/sweeps.md`` explains them."""

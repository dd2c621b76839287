"""Many inputs at once to one target: what each came to, without looking at any."""

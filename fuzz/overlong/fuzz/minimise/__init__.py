"""From an input that diverges to the least one that does: one name for one cause."""

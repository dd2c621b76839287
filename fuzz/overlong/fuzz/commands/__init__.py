"""The verbs of this layer."""

"""A population of wrong validators, each proved wrong by a string."""

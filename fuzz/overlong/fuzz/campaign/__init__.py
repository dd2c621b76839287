"""A campaign: a folder that several processes may work on, and that survives all of them."""

"""Where targets come from: their names, and the adapters that drive them."""

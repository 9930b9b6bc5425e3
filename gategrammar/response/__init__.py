"""How a text becomes a gate response."""

"""How going back to a step ended."""

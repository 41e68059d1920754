"""Whether exemplars still hold, and what they are worth."""

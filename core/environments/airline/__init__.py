"""The airline desk: a bundled site on which an agent serves the customers of an invented airline."""

"""The panels: each a pure view of one snapshot model."""

"""The panels: each is a pure view of one snapshot model."""

"""What the bundled sites have in common: a loopback server that keeps a state for each session."""

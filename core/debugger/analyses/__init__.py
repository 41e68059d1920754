"""What the window asks of the exemplars as a whole, each analysis with a desk of its own."""

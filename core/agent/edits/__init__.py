"""What a person may put right in a run between two phases: one class for each kind of edit."""

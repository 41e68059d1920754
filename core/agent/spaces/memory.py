"""What a run remembers on its way through a state space: what was searched for, looked at and set aside."""

"""The readings of the paper that touch energy: every combination of them, without learning."""

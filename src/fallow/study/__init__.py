"""The paper's study: its grid of runs, its three figures, and its claims, each with what we found."""

"""Many runs: the grid, the processes that carry it out, and how long it takes."""

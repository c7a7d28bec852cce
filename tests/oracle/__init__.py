"""The scalar oracle: Algorithms 1 and 2 of the paper, transcribed line by line."""

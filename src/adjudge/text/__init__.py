"""What text looks like: how answers are normalised for comparison and found inside a model's output."""

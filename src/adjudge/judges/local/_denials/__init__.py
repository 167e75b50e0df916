"""What turns an answer round: denials, corrections, opposites, refusals, another answer beside it."""

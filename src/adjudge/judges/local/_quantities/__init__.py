"""Numbers, units, sums of money, dates and times of day in all their writings."""

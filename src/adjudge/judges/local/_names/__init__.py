"""Names of people, places, bodies and works: their other forms, and names that are only near."""

"""What everything rests on: errors, limits, exact numbers, claims, sources, arguments."""

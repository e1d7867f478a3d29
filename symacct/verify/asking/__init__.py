"""What a peer is asked, and the run that asks it."""

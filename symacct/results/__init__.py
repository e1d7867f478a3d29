"""What an answer shows, as data, and how a terminal and a notebook show it."""

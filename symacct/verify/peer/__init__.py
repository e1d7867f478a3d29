"""Peers: where they come from, their processes, and the line protocol."""

"""The privacy loss of each mechanism, one file a mechanism."""

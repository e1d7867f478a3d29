"""Profiles between two bounds, by losses laid on a grid."""

"""Expectations over three normal laws: the triangles of fixed-size sampling."""

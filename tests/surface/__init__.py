"""The public surface written down: names, signatures, and the answers of seeded questions.

`python -m tests.surface.record` writes it anew, where a change of the surface is meant.
"""

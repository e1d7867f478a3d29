"""Accountants: what answers a question remembers, and answers in other currencies."""

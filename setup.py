"""Shim for tools that still call setup.py; everything stands in setup.cfg."""

from setuptools import setup

setup()

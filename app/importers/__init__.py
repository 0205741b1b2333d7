"""Readers of other programs' files.

Own the foreign forms and their checks. Must only read; must not know our tables or any provider.
"""

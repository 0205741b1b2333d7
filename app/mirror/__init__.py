"""Keeps this process's in-memory indexes in step with the database's change feed.

Owns the one reference to the current view. Must not write to the database.
"""

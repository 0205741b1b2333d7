"""Exports of everything, in forms that this and other programs read.

Owns the forms and how a target comes to be. Must only read the database, in one snapshot.
"""

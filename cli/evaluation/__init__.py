"""Judging answers against graded queries.

Owns the file of queries, the asking of a server, the figures and their uncertainty, and how they
are shown. ``metrics``, ``figures``, ``baseline`` and ``proposals`` are pure.
"""

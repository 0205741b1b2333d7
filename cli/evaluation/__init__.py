"""Judging answers against graded queries.

Owns the figures and their uncertainty. Must not search or print.
"""

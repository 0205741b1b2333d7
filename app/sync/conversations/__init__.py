"""Brings in conversations from where tools keep them.

Owns what makes a conversation new, grown or unchanged. Must not know the form of any tool's files.
"""

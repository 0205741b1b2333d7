"""The structure of Markdown texts.

Owns what a text says of itself: its sections. Must not know notes, chunks or files.
"""

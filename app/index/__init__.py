"""Vector indexes: caches of the vectors in the database, searched exhaustively.

Owns scoring and the top-k cut. Must not read the database or know what a note is.
"""

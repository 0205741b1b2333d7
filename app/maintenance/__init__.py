"""Work on the whole database: exports and changes of its configuration.

Owns operations that no single note is the subject of. Must not know HTTP.
"""

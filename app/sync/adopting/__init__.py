"""Taking over another program's data directory, through the one door for writes.

Owns what of it is new, which ids and which space it gets. Must not read files itself.
"""

"""The one door for every write: notes, vectors, statuses and the change feed commit together.

Owns transactions and statuses. Must not search or know HTTP.
"""

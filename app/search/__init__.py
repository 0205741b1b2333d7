"""Searches: one request through embedding, index, ranker and answer.

Owns the read path. Must not write; must not hold a rule about order.
"""

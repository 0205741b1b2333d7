"""Providers at the other end of a network.

Owns how they are called. Must not know what they make.
"""

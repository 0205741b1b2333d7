"""Reads conversations where AI coding tools keep them.

Owns the forms of those files: one module a tool. Only reads, and never writes below a tool's
folder. Must not know how anything is stored here.
"""

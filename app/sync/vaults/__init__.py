"""Keeps notes in step with the files of a folder.

Owns what makes a file the same as a note, and what of it is written. Must not look for files.
"""

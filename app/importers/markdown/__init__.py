"""Reader of folders of Markdown and other files.

Owns which files of a folder count and how each becomes the text of a note. Never follows a link
out of the folder; must only read.
"""

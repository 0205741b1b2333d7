"""The ranker `notebrain` and the questions of its page that compare meanings (notebrain.md).

Pure: cosines in, rows out. One module per rule.
"""

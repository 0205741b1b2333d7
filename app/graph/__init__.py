"""Graph questions over notes: who is reached, who points here, who shares tags, where all lie.

Pure: edges, titles and tags in, rows out. No answer depends on the order of what came in.
"""

"""From the turns of a conversation to what a note says: pure rules on texts and vectors.

Owns what counts as a problem, a cause, an outcome; must not read, embed or store anything.
"""

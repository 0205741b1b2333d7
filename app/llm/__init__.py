"""Language models: asked for structured answers, and only when somebody wants it.

Owns requests and the checking of answers. Must not know conversations or notes.
"""

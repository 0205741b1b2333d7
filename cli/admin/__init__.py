"""Commands for the server and the database of this machine.

Reaches the application through ``app.factory`` and ``app.maintenance``, and nothing else of it
but settings, errors and values. The only part of the command line that may.
"""

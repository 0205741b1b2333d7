"""The command line: a thin client of the HTTP API; work on this machine in ``cli.admin``."""

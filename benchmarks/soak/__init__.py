"""Faults, load and abuse against real servers: ``python -m benchmarks.soak --seconds 1800``.

Owns what ``docs/reliability.md`` shows: processes killed while they write, disks that are full,
files that are damaged, providers that misbehave, many writers at once, and texts and files that
nobody would send. Everything runs on 127.0.0.1 and ends with the process that began it.
"""

"""The Pod Lifecycle Event Generator, pure: inputs in, effects and records out.

Nothing here does I/O, reads a clock or draws a random number of its own: time is a field of
every input and a seeded generator is handed in. The same code therefore runs under a real clock
against a runtime, under virtual time, and again over a recording.
"""

"""Runs: scenarios that are played whole in virtual time, before anybody looks at them.

A run follows from its spec alone: scenario, seed, profile, runtime, duration and what is pressed
when. So a link that holds the spec opens the same run on another machine. ``spec`` reads and writes
such links, ``run`` plays one, ``runs`` keeps those that were asked for.
"""

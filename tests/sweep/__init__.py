"""Deterministic simulation of the engine: many seeds, all faults, every law, and proof that each
safeguard is needed.

    python -m tests.sweep --seeds 1000
    python -m tests.sweep --seed 4711 --mode liveness
    python -m tests.sweep --mutations

A seed is a whole life: a node whose pods come and go, pod workers, a runtime that answers slowly,
wrongly late or not at all, a stream that loses, doubles and delays, and one engine among them. Each
of these draws from a generator of its own (``app.sim.chance``), so one more draw in one of them
shifts nothing in the others.
"""

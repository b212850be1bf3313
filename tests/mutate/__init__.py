"""Mutation of ``app/engine``: small faults are put in one by one, and the engine's tests must fail.

    python -m tests.mutate                  everything that is not known yet
    python -m tests.mutate stream requests  these modules
    python -m tests.mutate --again          what survived, once more

Why a mutator of our own: mutmut 3 changes code in functions only, and much of what matters here is
tables (``transitions.py``); cosmic-ray changes files in place and starts an interpreter per mutant,
and there are over a thousand. Here a mutant is a syntax tree that a forked child imports instead of
the file, so nothing on disk changes and a mutant costs about a second.

Results are kept in ``.cache/mutate`` by module and mutant. ``tests/engine/SURVIVORS.md``
explains each survivor; one that is not explained there fails the run.
"""

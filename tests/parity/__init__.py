"""Runtime scenarios with the same assertions for simulated and for real runtimes.

``scenarios.py`` is the suite; ``families.py`` says in a table what the families of runtimes do
differently, whether simulated or real; ``simulated.py`` and ``real.py`` are the two kinds of nodes.
The simulated ones are tested here, the real ones in ``tests/runtime/test_parity.py``. Both are
asked by the lab's client, which has messages of its own and shares nothing with plegscope.
"""

"""Runtime scenarios with the same assertions for simulated and for real runtimes.

``scenarios.py`` gathers the suite; ``families.py`` says in a table what the families of runtimes do
differently, whether simulated or real; ``simulated.py`` and ``real.py`` are the two kinds of nodes.
The simulated ones are tested here, the real ones in ``tests/runtime/test_parity.py``. Both are
asked by the lab's client, which has messages of its own and shares nothing with plegscope.
"""

import pytest

# So that an assertion in them says what was there instead.
for module in ("endings", "goings", "lives", "node", "outages", "replayed", "streams", "suite"):
    pytest.register_assert_rewrite(f"{__name__}.{module}")

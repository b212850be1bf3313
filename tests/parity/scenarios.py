"""The scenarios, each a function of a node: what it does, and what every runtime must answer.

What families do differently is asked of ``node.family``, never whether a node is simulated.
"""

from __future__ import annotations

from tests.parity import endings, goings, lives, outages, streams
from tests.parity.suite import SCENARIOS

MODULES = (lives, endings, goings, outages, streams)
"""Each enters its scenarios into the list when it is imported."""

__all__ = ["MODULES", "SCENARIOS"]

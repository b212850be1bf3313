"""Small nodes to compare runs of: a scenario's text, played under a profile, and what truly was."""

from __future__ import annotations

from app.sim.account import Summary, play_to_end
from app.sim.library import parse
from app.sim.units import seconds
from app.sim.virtual import VirtualSession
from app.stage.truth import Moment, RunTruth, Truth

ONE_POD = """
title = "One pod whose container ends now and then"
shows = "Nothing in particular."

[[workload]]
kind = "replicas"
name = "web"
namespace = "shop"
controller = "StatefulSet"
mishap = [{ every = ["4s", "6s"], ending = "error" }]
"""

LOST = """
[[fault]]
kind = "events-lost"
at = "0s"
events = ["stopped"]
share = 1.0
"""

BLIND_INSPECTIONS = """
title = "A pod of two containers that cannot be inspected"
shows = "An entry with an error says nothing of the container that runs on."

[[workload]]
kind = "replicas"
name = "pair"
namespace = "shop"
container = [{ name = "one" }, { name = "other" }]
end_all = [{ at = "4s", container = "one" }]

[[fault]]
kind = "inspections-fail"
at = "3s"
for = "15s"
share = 1.0
"""

OLDER_WINS = """
title = "A start event that comes after the stop and claims to be newer"
shows = "An older state overwrites a newer one."

[[workload]]
kind = "replicas"
name = "brief"
namespace = "shop"
restart_policy = "Never"
count = 0
resize = [{ at = "2s", count = 1 }]
container = [{ name = "brief", runs = ["100ms", "200ms"], ends = ["completed"] }]

[[fault]]
kind = "events-misdated"
at = "0s"
events = ["started"]
by = "+1h"

[[fault]]
kind = "events-reordered"
at = "0s"
events = ["started"]
by = ["700ms", "800ms"]
"""


def played(
    text: str, profile: str = "kep", *, seed: int = 7, time_s: float = 30
) -> tuple[RunTruth, Summary]:
    """What truly was on this node, and the summary of the same session."""
    session = VirtualSession(parse(text, "test"), seed=seed, profile=profile)
    truth = Truth(session, seconds(time_s))
    summary = play_to_end(session, seconds(time_s))
    return truth.told(), summary


def ends(truth: RunTruth) -> list[Moment]:
    """The ends among the moments."""
    return [one for one in truth.moments if one.what == "end"]

"""What the kubelet has got done, and how long that took."""

from app.sim.milestones import Milestone


def test_a_milestone_knows_how_long_it_took() -> None:
    assert Milestone("resized", "u", 40, 100).took_ns == 60

"""What waits, what is dropped and what hangs on the way of events to subscribers."""

import pytest

from app.sim.agenda import Agenda, VirtualClock, play
from app.sim.chance import generator
from app.sim.channel import LONGEST_WAIT, WINDOW, Channel, Listener
from app.sim.flavour import RuntimeRules
from app.sim.flavours import CONTAINERD_1_6, CONTAINERD_1_7, CONTAINERD_2, CRI_O
from app.sim.objects import RuntimeEvent, Sandbox, SandboxConfig

SANDBOX = Sandbox("s", SandboxConfig(name="p", uid="u", namespace="n"), "ready", 1)


class Bench:
    """A channel, and what each subscriber has got. ``full``: those without room."""

    def __init__(self, rules: RuntimeRules = CONTAINERD_2) -> None:
        self.full: set[str] = set()
        self.got: dict[str, list[str]] = {}
        self.channel: Channel[str] = Channel(
            rules, generator(1, "channel"), self._send, lambda one: one not in self.full
        )

    def join(self, *names: str) -> list[str]:
        kept: list[str] = []
        for name in names:
            self.got[name] = []
            kept += [told.container_id for told in self.channel.join(name, 0)]
        self.channel.pump()
        return kept

    def tell(self, *names: str) -> None:
        for name in names:
            self.channel.publish(RuntimeEvent("stopped", name, 0, SANDBOX))

    def _send(self, told: RuntimeEvent, to: tuple[str, ...]) -> None:
        for one in to:
            self.got[one].append(told.container_id)


def test_events_come_in_order_to_all_who_have_room() -> None:
    bench = Bench()
    bench.join("a", "b")
    bench.tell("1", "2", "3")
    assert bench.got == {"a": ["1", "2", "3"], "b": ["1", "2", "3"]}
    assert not bench.channel.stalled


def test_on_containerd_2_one_without_room_stalls_all_until_it_has_some() -> None:
    bench = Bench()
    bench.join("slow", "quick")
    bench.full = {"slow"}
    bench.tell("1", "2")
    assert bench.channel.stalled
    assert bench.got["quick"] == []
    bench.full = set()
    bench.channel.pump()
    assert bench.got == {"slow": ["1", "2"], "quick": ["1", "2"]}
    assert not bench.channel.stalled


def test_or_until_it_leaves() -> None:
    bench = Bench()
    bench.join("slow", "quick")
    bench.full = {"slow"}
    bench.tell("1")
    bench.channel.leave("slow", noticed=False)
    assert bench.got["quick"] == ["1"]
    assert not bench.channel.stalled


def test_or_until_the_runtime_ends() -> None:
    bench = Bench()
    bench.join("slow")
    bench.full = {"slow"}
    bench.tell("lost")
    bench.channel.restart()
    assert not bench.channel.stalled
    bench.tell("kept")
    assert bench.join("late") == ["kept"]


@pytest.mark.parametrize("rules", [CONTAINERD_1_7, CRI_O], ids=["containerd-1.7", "cri-o"])
def test_elsewhere_nothing_hangs_and_the_newest_are_dropped(rules: RuntimeRules) -> None:
    bench = Bench(rules)
    bench.join("slow")
    bench.full = {"slow"}
    bench.tell(*map(str, range(1200)))
    assert not bench.channel.stalled
    assert bench.channel.dropped == 200
    bench.full = set()
    bench.channel.pump()
    assert bench.got["slow"] == list(map(str, range(1000)))


def test_even_on_containerd_2_there_is_a_bound() -> None:
    bench = Bench()
    bench.join("slow")
    bench.full = {"slow"}
    bench.tell(*(["x"] * (LONGEST_WAIT + 7)))
    assert bench.channel.dropped == 7


def test_what_was_kept_comes_at_once_or_out_of_the_channel() -> None:
    for rules, at_once in ((CONTAINERD_2, ["1", "2"]), (CRI_O, ["1", "2"]), (CONTAINERD_1_7, [])):
        bench = Bench(rules)
        bench.tell("1", "2")
        assert bench.join("a") == at_once
        assert bench.got["a"] == ([] if at_once else ["1", "2"])


def test_a_runtime_without_a_stream_keeps_and_holds_nothing() -> None:
    bench = Bench(CONTAINERD_1_6)
    bench.tell("1")
    assert bench.join("a") == []
    bench.tell("2")
    assert bench.got["a"] == []
    assert not bench.channel.stalled


def test_calls_that_hang_are_told_once_when_nothing_waits_any_more() -> None:
    clock = VirtualClock()
    agenda = Agenda(clock)
    bench = Bench()
    bench.join("slow")
    assert bench.channel.stall(agenda) is None
    bench.full = {"slow"}
    bench.tell("1", "2")
    stall = bench.channel.stall(agenda)
    assert stall is not None
    moved: list[str] = []
    stall.then(lambda: moved.append("moved"))
    bench.tell("3")
    play(agenda, clock, 1)
    assert moved == []
    bench.full = set()
    bench.channel.pump()
    bench.channel.pump()
    play(agenda, clock, 2)
    assert moved == ["moved"]


def test_a_listener_that_reads_always_has_room() -> None:
    taken: list[int] = []
    listener = Listener(reads=True, slots=1, on_take=lambda: taken.append(1))
    for _ in range(2000):
        listener.take()
    assert listener.has_room
    assert len(taken) == 2000


def test_one_that_does_not_takes_what_its_slots_and_http_2_take() -> None:
    listener = Listener(reads=False, slots=CONTAINERD_2.slots)
    taken = 0
    while listener.has_room:
        listener.take()
        taken += 1
    assert taken == CONTAINERD_2.slots + WINDOW
    # 157 containers that were made and removed, as on a real one.
    assert 300 < CONTAINERD_2.slots + WINDOW < 330

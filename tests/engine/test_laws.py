"""Laws that hold whatever happens, whenever it happens.

The oracle (``oracle.py``) watches every step of random plays (``director.py``): one relist at a
time and a due global one first; what a relist publishes is the difference of two listings and no
pod under SyncPod is published; each request ends once and is counted; health, period and threshold
come from listings alone; after the end nothing is begun. ``Director.heal`` demands convergence.

Hypothesis looks for a play that breaks a law and shrinks it; the sweep runs many long plays and
makes sure that everything worth reaching was reached; the last test proves that the laws bite.
"""

from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from app.engine import transitions
from app.engine.cache import PodCache
from app.engine.generic import GenericPleg
from app.engine.health import Health
from app.engine.lifecycle import Finding, LifecycleEvents
from app.engine.model import PodStatus
from app.engine.podrecords import PodRecords
from app.engine.records import Outcome
from app.engine.requests import Request, RequestQueue
from app.engine.transitions import Change
from tests.engine.director import ACTS, Director, play

SEEDS = 300
ACTS_PER_SEED = 250

SITUATIONS = {
    # Each cell of the transition table, filtered ones included, and the event without a change.
    *(
        f"{old} to {new}"
        for old in ("running", "exited", "unknown", "non-existent")
        for new in ("running", "exited", "unknown", "non-existent")
        if old != new
    ),
    *(f"{kind} sent" for kind in ("ContainerStarted", "ContainerDied", "ContainerRemoved")),
    *(f"{kind} discarded" for kind in ("ContainerStarted", "ContainerDied", "ContainerRemoved")),
    "ContainerChanged filtered", "PodSync sent", "PodSync discarded",
    *(f"found by {one}" for one in ("global", "evented_pleg", "post_sync", "post_allocation")),
    "death told of=True", "death told of=False", "inspection failed",
    # Relists: on time and after another; good, failed, and with pods withheld.
    "global on time", "global after another", "global ok withheld=False",
    "global ok withheld=True", "global failed withheld=False", "pod ok withheld=False",
    "pod ok withheld=True", "pod failed withheld=False",
    # Whatever can become of a request, from its making to its end.
    *(f"request {one}" for one in ("queued", "held", "coalesced", "dropped")),
    "queued held", "queued coalesced", "queued skipped", "queued cancelled", "held released",
    "held dropped", "held cancelled", "running cancelled", "executed queued", "executed held",
    "executed coalesced", "executed dropped",
    # Events and health.
    *(f"event {kind} backlog={old}" for kind in ("created", "started", "stopped", "deleted")
      for old in (True, False)),
    "missing_sandbox_status", "missing_metadata", "missing_uid", "healthy=True", "healthy=False",
}  # fmt: skip


class AnyPlay(RuleBasedStateMachine):
    """A play whose every choice is hypothesis's."""

    director: Director

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.director = Director(_picked_from(data))

    @rule(data=st.data(), act=st.sampled_from(ACTS))
    def act(self, data: st.DataObject, act: Callable[[Director], None]) -> None:
        self.director.pick = _picked_from(data)
        act(self.director)
        self.director.oracle.agrees(self.director.stage.state())

    def teardown(self) -> None:
        if hasattr(self, "director"):
            self.director.heal()


def _picked_from(data: st.DataObject) -> Callable[[int], int]:
    return lambda count: data.draw(st.integers(0, count - 1))


def test_laws_hold_in_any_play() -> None:
    run_state_machine_as_test(AnyPlay, settings=settings(max_examples=120, stateful_step_count=50))


def test_laws_hold_over_many_seeds_and_everything_is_reached() -> None:
    reached: set[str] = set()
    for seed in range(SEEDS):
        reached |= play(seed, ACTS_PER_SEED).oracle.situations
    assert SITUATIONS - reached == set(), "the plays have gone stale"


SAFEGUARDS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "a transition": lambda patch: patch.setitem(transitions._NEW["exited"], "running", ()),
    "died before removed": lambda patch: patch.setitem(
        transitions._NEW["non-existent"], "running", ("ContainerRemoved", "ContainerDied")
    ),
    "suspension": lambda patch: patch.setattr(GenericPleg, "_may_publish", lambda *_, **__: True),
    "suspension of what is asked for": lambda patch: patch.setattr(
        RequestQueue, "suspend", lambda self, uid: self._suspended.setdefault(uid, 0)
    ),
    "the release": lambda patch: patch.setattr(RequestQueue, "release", _release_nothing),
    "the skip rule's limits": lambda patch: patch.setattr(
        GenericPleg, "_covered", lambda self, _: self.health.relist_t is not None
    ),
    "the queue's bound": lambda patch: patch.setattr(
        RequestQueue, "_place", _place_without_a_bound
    ),
    "reinspection": lambda patch: patch.setattr(PodRecords, "mark", lambda *_: None),
    "the record moving on": lambda patch: patch.setattr(PodRecords, "advance", lambda *_: None),
    "the cache write": lambda patch: patch.setattr(PodCache, "set", lambda *_: None),
    "the cache delete": lambda patch: patch.setattr(PodCache, "delete", lambda *_: None),
    "the relist time": lambda patch: patch.setattr(Health, "listed", lambda *_: None),
    "one event each": lambda patch: patch.setattr(LifecycleEvents, "send", _send_twice),
    "the due global relist first": lambda patch: patch.setattr(
        GenericPleg, "dispatch", _requests_first
    ),
    "cancelling at the end": lambda patch: patch.setattr(
        RequestQueue, "cancel_all", lambda _: None
    ),
}

_place = RequestQueue._place
_send = LifecycleEvents.send
_dispatch = GenericPleg.dispatch


def _release_nothing(queue: RequestQueue, uid: str) -> tuple[int, int] | None:
    return None if queue._suspended.pop(uid, None) is None else (0, 0)


def _place_without_a_bound(queue: RequestQueue, request: Request) -> Outcome:
    queue.capacity, capacity = 10_000, queue.capacity
    try:
        return _place(queue, request)
    finally:
        queue.capacity = capacity


def _send_twice(
    events: LifecycleEvents, change: Change, status: PodStatus | None, found: Finding
) -> None:
    for _ in range(2):
        _send(events, change, status, found)


def _requests_first(generic: GenericPleg) -> None:
    due = generic.due_t
    if generic.job is None and len(generic.queue) and due is not None:
        generic.due_t = due + 1_000_000_000
        _dispatch(generic)
        generic.due_t = due
    else:
        _dispatch(generic)


@pytest.mark.parametrize("safeguard", SAFEGUARDS)
def test_a_safeguard_that_is_switched_off_is_missed(
    safeguard: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    SAFEGUARDS[safeguard](monkeypatch)
    with pytest.raises(AssertionError):
        _sweep()


def _sweep() -> None:
    for seed in range(SEEDS):
        play(seed, ACTS_PER_SEED)

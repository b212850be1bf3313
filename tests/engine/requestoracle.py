"""A naive ledger of relist requests: what may become of each, and what became of it.

A request ends in exactly one of executed, skipped, coalesced, dropped, cancelled. Outside a hold
none is merged, in a hold one is kept; the oldest goes first; what a newer global relist covered is
skipped, and nothing else is.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Set

from app.engine.records import RelistStarted, RequestMade, RequestMoved
from app.engine.settings import EngineSettings
from app.engine.state import EngineState
from tests.engine.facts import ENDED, Relist


class RequestOracle:
    """``holds``: pods under SyncPod; ``touched``: in which step a pod's hold last began or ended;
    both are kept up to date by whoever gave them. ``good``: the newest global relist that has its
    list."""

    def __init__(
        self,
        settings: EngineSettings,
        holds: Set[str],
        touched: Mapping[str, int],
        reach: Callable[[str], None],
    ) -> None:
        self._capacity = settings.queue_capacity
        self._holds = holds
        self._touched = touched
        self._reach = reach
        self._t = 0
        self.good: Relist | None = None
        self.all: dict[int, str] = {}
        """What became of each, by number."""
        self._uid: dict[int, str] = {}
        self._enqueued: dict[int, int] = {}
        self._ever_queued: set[int] = set()
        self._in_state: dict[str, dict[int, None]] = {}
        """The same by what became of them; those queued in the order of the queue."""
        self.queued_of: Counter[str] = Counter()
        """How many stand in the queue, by pod."""
        self._put_back: int | None = None
        """The request of a targeted relist that ended in this step and withheld its pod."""

    # Steps and relists

    def begin(self, t: int) -> None:
        """A step begins."""
        self._t = t
        self._put_back = None

    def put_back_kept(self) -> None:
        """A step is over: what was withheld must wait on."""
        if self._put_back is not None:
            assert self.all[self._put_back] != "executed", "a withheld request waits on"

    def holds_kept(self) -> None:
        """A step is over: what a held pod wants stands nowhere, and only held pods' wait."""
        assert not any(self.queued_of[uid] for uid in self._holds)
        assert all(self._uid[number] in self._holds for number in self.of_state("held"))

    def started(self, relist: RelistStarted) -> None:
        """A targeted relist began, for the oldest request that is not covered."""
        assert relist.request is not None
        assert relist.request == self.of_state("queued")[0], "the oldest request first"
        assert self._uid[relist.request] == relist.uid
        assert not self._surely_covered(relist.request), "a covered request is skipped"
        self._move(relist.request, "running")

    def finished(self, number: int, *, withheld: bool) -> None:
        """The relist of this request has ended."""
        if self.all[number] == "running":
            self._move(number, "executed")
            if withheld:
                self._put_back = number

    # Requests

    def made(self, record: RequestMade) -> None:
        """Somebody asks."""
        assert record.request not in self.all
        assert record.outcome in ("queued", "held", "coalesced", "dropped")
        self._uid[record.request] = record.uid
        self._place(record.request, record.outcome)
        self._reach(f"request {record.outcome}")
        assert record.depth == self.count("queued")

    def moved(self, record: RequestMoved) -> None:
        """Something becomes of a request that was made."""
        number, was = record.request, self.all[record.request]
        assert self._uid[number] == record.uid
        self._reach(f"{was} {record.outcome}")
        match record.outcome:
            case "held":
                assert was in ("queued", "executed")
                self._place(number, "held")
            case "released":
                assert was == "held"
                self._place(number, "queued")
            case "queued":
                assert was == "executed", "a withheld relist's request waits again"
                self._place(number, "queued")
            case "coalesced":
                assert was in ("queued", "executed")
                self._place(number, "coalesced")
            case "dropped":
                assert was in ("held", "executed")
                self._place(number, "dropped")
            case "skipped":
                self._skipped(record, was)
            case "cancelled":
                assert was in ("queued", "held", "running")
                self._move(number, "cancelled")
        if was == "executed":
            assert number == self._put_back, "only a withheld relist's request waits on"
        assert record.depth == self.count("queued")

    def _place(self, number: int, outcome: str) -> None:
        uid = self._uid[number]
        held_already = [n for n in self.of_state("held") if self._uid[n] == uid]
        if uid in self._holds:
            assert outcome == ("coalesced" if held_already else "held")
        elif outcome == "coalesced":
            assert self.queued_of[uid]
            assert number in self.all, "outside a hold no new request is merged"
        else:
            assert outcome == ("dropped" if self.count("queued") >= self._capacity else "queued")
        self._move(number, outcome)
        if outcome == "queued":
            self._enqueued[number] = self._t
            self._ever_queued.add(number)

    def _skipped(self, record: RequestMoved, was: str) -> None:
        assert was == "queued"
        assert record.request == self.of_state("queued")[0], "the oldest request first"
        assert self.good is not None
        assert record.relist == self.good.number
        assert self._enqueued[record.request] <= self.good.t, "covered by a newer global relist"
        assert record.uid not in self.good.withheld, "which did not withhold the pod"
        self._move(record.request, "skipped")

    def _surely_covered(self, number: int) -> bool:
        """A newer global relist saw the pod of this request, and no hold came between."""
        good = self.good
        if good is None or self._enqueued[number] > good.t:
            return False
        return self._touched.get(self._uid[number], 0) <= good.step

    def _move(self, number: int, state: str) -> None:
        was, uid = self.all.get(number), self._uid[number]
        if was is not None:
            del self._in_state[was][number]
        self._in_state.setdefault(state, {})[number] = None
        self.all[number] = state
        self.queued_of[uid] += (state == "queued") - (was == "queued")

    def of_state(self, state: str) -> list[int]:
        """Numbers of the requests that are in this state, in the order they came into it."""
        return list(self._in_state.get(state, ()))

    def count(self, state: str) -> int:
        """How many requests are in this state."""
        return len(self._in_state.get(state, ()))

    def waiting(self) -> int:
        """How many requests have not ended."""
        return len(self.all) - sum(self.count(one) for one in ENDED)

    def agrees(self, state: EngineState) -> int:
        """The engine's own account is this one; returns how many are being executed."""
        for outcome in ("executed", "skipped", "coalesced", "dropped", "cancelled", "held"):
            assert state.requests[outcome] == self.count(outcome), outcome
        assert state.requests["queued"] == len(self._ever_queued)
        assert state.queue.length == self.count("queued") <= self._capacity
        assert state.queue.held == self.count("held") <= len(self._holds)
        assert state.queue.suspended == len(self._holds)
        running = self.count("running")
        ended = sum(state.requests[one] for one in ENDED)
        assert len(self.all) == ended + state.queue.length + state.queue.held + running
        return running

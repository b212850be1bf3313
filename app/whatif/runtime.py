"""A runtime that answers as the recorded one would have: the engine's effects in virtual time.

The twin of ``app/sim/virtualruntime.py`` with a timeline behind it instead of a world. A call takes
as long, and fails, as the recorded call of its kind that began nearest to it.
"""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from app.engine.effects import CloseStream, Effect, InspectPod, ListPods, OpenStream
from app.engine.inputs import Input, PodInspected, PodInspectFailed, PodsListed, PodsListFailed
from app.engine.model import CallCost, Observation
from app.sim.agenda import Agenda, Steps
from app.whatif.evidence import Evidence, Failed
from app.whatif.stream import RebuiltStream
from app.whatif.timeline import Timeline

MS = 1_000_000
USUAL_LIST_NS = MS
USUAL_STATUS_NS = MS
"""What a call takes if the recording has none of its kind (measured on containerd)."""
FAILS_WITHIN_NS = 30_000 * MS
"""A pod's failed inspection says nothing of one that is further away."""


class Look(NamedTuple):
    """One good listing of everything: its relist's start, when the containers were looked at, and
    when that call had begun."""

    started: int
    began: int
    t: int


class _Rows:
    """The rows of a listing as time goes on; the same object as long as nothing changes."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._changes = timeline.changes()
        self._done = 0
        self.rows: dict[str, dict[str, Observation]] = {"sandbox": {}, "container": {}}

    def at(self, t: int) -> None:
        """Go on to ``t``."""
        changes, lives = self._changes, self._timeline.lives
        while self._done < len(changes) and changes[self._done][0] <= t:
            _, number, item_id = changes[self._done]
            life = lives[item_id]
            row = life.phases[number].row
            table = self.rows[life.item.first.kind]
            if row is None:
                table.pop(item_id, None)
            else:
                table[item_id] = row
            self._done += 1


class RebuiltRuntime:
    """Carries out ListPods, InspectPod, OpenStream and CloseStream.

    ``feed`` takes the answers, always from the agenda, never from within ``perform``.
    """

    def __init__(
        self,
        agenda: Agenda,
        evidence: Evidence,
        timeline: Timeline,
        stream: RebuiltStream,
        feed: Callable[[Input], None],
    ) -> None:
        self._agenda = agenda
        self._evidence = evidence
        self._timeline = timeline
        self._feed = feed
        self._rows = _Rows(timeline)
        self.stream = stream
        self.calls: Counter[str] = Counter()
        self.looks: list[Look] = []

    def perform(self, effect: Effect) -> None:
        """Begin to carry out an effect; its answer comes later.

        Raises:
            TypeError: a runtime cannot do that.
        """
        match effect:
            case ListPods():
                self._agenda.start(self._list(effect))
            case InspectPod():
                self._agenda.start(self._inspect(effect))
            case OpenStream():
                self.calls["GetContainerEvents"] += 1
                self.stream.open()
            case CloseStream():
                self.stream.close()
            case _:
                raise TypeError(f"{type(effect).__name__} is nothing that a runtime can do")

    def _list(self, wanted: ListPods) -> Steps[None]:
        clock = self._agenda.clock
        began, costs = clock.mono(), []
        failed: Failed | None = None
        found: list[tuple[Observation, ...]] = []
        middle = began
        for method, kind in (("ListPodSandbox", "sandbox"), ("ListContainers", "container")):
            known = self._evidence
            calls = known.sandbox_lists if kind == "sandbox" else known.container_lists
            middle = clock.mono()
            near = calls.near(middle)
            took, failed = (USUAL_LIST_NS, None) if near is None else near
            self.calls[method] += 1
            yield took
            costs.append(CallCost(method, took))
            if failed is not None:
                break
            found.append(self._look(kind, wanted.uid))
        t, wall = clock.mono(), clock.wall()
        if failed is not None:
            self._feed(
                PodsListFailed(
                    t=t,
                    wall=wall,
                    call=wanted.call,
                    error=failed.error,
                    calls=tuple(costs),
                    code=failed.code,
                )
            )
            return
        if wanted.uid is None:
            self.looks.append(Look(began, middle, t))
        self._feed(
            PodsListed(
                t=t,
                wall=wall,
                call=wanted.call,
                sandboxes=found[0],
                containers=found[1],
                calls=tuple(costs),
            )
        )

    def _look(self, kind: str, uid: str | None) -> tuple[Observation, ...]:
        self._rows.at(self._agenda.clock.mono())
        table = self._rows.rows[kind]
        if uid is None:
            return tuple(table.values())
        lives = self._timeline.pods.get(uid, ())
        ids = [life.item.first.id for life in lives if life.item.first.kind == kind]
        return tuple(table[one] for one in ids if one in table)

    def _inspect(self, wanted: InspectPod) -> Steps[None]:
        clock = self._agenda.clock
        near = self._evidence.inspections.near(clock.mono())
        took = USUAL_STATUS_NS if near is None else near[0]
        methods = ["PodSandboxStatus"] * len(wanted.sandbox_ids)
        methods += ["ContainerStatus"] * len(wanted.container_ids)
        self.calls.update(methods)
        costs = tuple(CallCost(method, took) for method in methods)
        error = self._inspection_fails(wanted.uid, clock.mono())
        yield took
        t, wall = clock.mono(), clock.wall()
        if error:
            self._feed(PodInspectFailed(t=t, wall=wall, call=wanted.call, error=error, calls=costs))
            return
        sandboxes = (self._timeline.sandbox_status(one, t) for one in wanted.sandbox_ids)
        containers = (self._timeline.container_status(one, t) for one in wanted.container_ids)
        self._feed(
            PodInspected(
                t=t,
                wall=wall,
                call=wanted.call,
                sandboxes=tuple(one for one in sandboxes if one is not None),
                containers=tuple(one for one in containers if one is not None),
                calls=costs,
            )
        )

    def _inspection_fails(self, uid: str, t: int) -> str:
        calls = self._evidence.per_pod.get(uid)
        near = None if calls is None else calls.nearest(t)
        if near is None or near[1] is None or abs(near[0] - t) > FAILS_WITHIN_NS:
            return ""
        return near[1].error

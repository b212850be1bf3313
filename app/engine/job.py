"""A relist in progress: what it waits for, what it has seen, and how it is told.

Source: kubelet pleg/generic.go ``Relist`` and ``reconcilePod``, which keep all this on the stack.
"""

from collections.abc import Iterator

import msgspec

from app.engine.inputs import FailCode
from app.engine.listing import Pod
from app.engine.model import CallCost, RelistSource
from app.engine.records import RelistFinished, Scope
from app.engine.requests import Request
from app.engine.state import RelistState
from app.engine.transitions import Change


class Inspection(msgspec.Struct):
    """The one pod a relist is asking the runtime about. ``t`` and ``wall``: what the status that
    comes of it is stamped with."""

    uid: str
    pod: Pod
    changes: list[Change]
    marked: bool
    t: int
    wall: int


class Job(msgspec.Struct):
    """A relist in progress. ``touched``: pods whose suspension began or ended meanwhile."""

    relist: int
    scope: Scope
    source: RelistSource
    started: int
    started_wall: int
    request: Request | None = None
    uid: str | None = None
    forced: bool = False
    call: int = 0
    pods: dict[str, Pod] | None = None
    todo: Iterator[str] = iter(())
    inspection: Inspection | None = None
    touched: set[str] = set()
    withheld: set[str] = set()
    changed: int = 0
    calls: int = 0
    slowest: CallCost = CallCost("", 0)
    slowest_uid: str = ""
    containers: int = 0
    running_pods: int | None = None
    by_state: dict[str, int] | None = None

    def account(self, costs: tuple[CallCost, ...]) -> None:
        """Calls were made for it, successful or not."""
        self.calls += len(costs)
        for cost in costs:
            if cost.duration_ns > self.slowest.duration_ns:
                self.slowest = cost
                self.slowest_uid = "" if self.inspection is None else self.inspection.uid

    def finished(
        self, t: int, wall: int, error: str, pause_ns: int | None, code: FailCode | None = None
    ) -> RelistFinished:
        """How it is told when it ends now; ``error``: why it failed, empty if it did not."""
        return RelistFinished(
            t=t,
            wall=wall,
            relist=self.relist,
            scope=self.scope,
            source=self.source,
            started=self.started,
            duration_ns=t - self.started,
            ok=not error,
            uid=self.uid,
            request=self.request.number if self.request is not None else None,
            error=error,
            code=code,
            pods=len(self.pods or ()),
            containers=self.containers,
            changed=self.changed,
            withheld=len(self.withheld),
            calls=self.calls,
            slowest_method=self.slowest.method,
            slowest_ns=self.slowest.duration_ns,
            slowest_uid=self.slowest_uid,
            running_pods=self.running_pods,
            containers_by_state=self.by_state,
            pause_ns=pause_ns,
        )

    def state(self, ended: RelistFinished | None = None) -> RelistState:
        """How it is shown: in progress, or as it ``ended``."""
        if ended is None:
            return RelistState(self.relist, self.scope, self.source, self.started, self.uid)
        return RelistState(
            self.relist,
            self.scope,
            self.source,
            self.started,
            self.uid,
            ended.duration_ns,
            ended.ok,
            ended.pods,
            ended.containers,
            ended.code,
        )

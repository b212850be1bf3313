"""The buttons that begin a fault: it is at work for a while, and can be lifted.

What a fault is called and what it imitates stands in ``faultnames.py``.
"""

from collections.abc import Callable
from random import Random

from app.sim.button import Button, Group, Made, Scene, Target
from app.sim.faultnames import named
from app.sim.faults import (
    EventsDamaged,
    EventsDoubled,
    EventsLost,
    EventsMisdated,
    EventsReordered,
    EventsRepeated,
    Fault,
    InspectionsFail,
    InspectionsSlow,
    ListsFail,
    ListsHang,
    ListsSlow,
    OtherSubscriber,
    RuntimeFreezes,
    RuntimeRestarts,
    ShortLivedPods,
    StreamDelayed,
    StreamEnds,
    StreamRefused,
    StreamSilent,
    SyncLoopStalls,
    SyncPodsSlow,
    TerminationStorm,
)
from app.sim.units import Ns, Offset, millis, seconds

NOW = Ns(0)


def _fault(
    name: str,
    lasts: Ns,
    does: str,
    make: Callable[[Scene, Ns], Fault],
    *,
    group: Group,
    target: Target = "none",
) -> Button:
    """A button for one fault, called as the fault is wherever it is told of."""
    sample = make(Scene(lasts, None, (), Random(0)), lasts)  # noqa: S311  (it draws nothing)
    words = named(sample)
    return Button(
        name=name,
        text=words.text,
        group=group,
        does=does,
        imitates=words.imitates,
        lasts=lasts,
        target=target,
        make=lambda scene: Made(make(scene, lasts if scene.lasts is None else scene.lasts)),
    )


def stream_buttons() -> tuple[Button, ...]:
    """The event stream as a whole."""
    return (
        _fault(
            "refuse-stream",
            seconds(30),
            "The stream ends, and is answered Unimplemented when it is opened again.",
            lambda _scene, lasts: StreamRefused(at=NOW, lasts=lasts),
            group="stream",
        ),
        _fault(
            "end-stream",
            seconds(10),
            "The stream ends without an error, and so does each that is opened meanwhile.",
            lambda _scene, lasts: StreamEnds(at=NOW, lasts=lasts, how="cleanly"),
            group="stream",
        ),
        _fault(
            "break-stream",
            seconds(10),
            "The stream breaks with an error, and so does each that is opened meanwhile.",
            lambda _scene, lasts: StreamEnds(at=NOW, lasts=lasts, how="broken"),
            group="stream",
        ),
        _fault(
            "silence-stream",
            seconds(20),
            "The stream stays open and brings nothing; what was not told is never told.",
            lambda _scene, lasts: StreamSilent(at=NOW, lasts=lasts),
            group="stream",
        ),
        _fault(
            "hold-stream",
            seconds(15),
            "The stream stays open and brings nothing; in the end all of it comes at once.",
            lambda _scene, lasts: StreamSilent(at=NOW, lasts=lasts, late=True),
            group="stream",
        ),
        _fault(
            "delay-stream",
            seconds(20),
            "Every event comes 0.5 to 2 s late, in order.",
            lambda _scene, lasts: StreamDelayed(at=NOW, lasts=lasts, by=(millis(500), seconds(2))),
            group="stream",
        ),
        _fault(
            "add-subscriber",
            seconds(30),
            "Another client listens to the stream as well, and reads what it gets.",
            lambda _scene, lasts: OtherSubscriber(at=NOW, lasts=lasts),
            group="stream",
        ),
        _fault(
            "stop-reading",
            seconds(60),
            "Another client opens the stream and never reads: after some 300 events it is full.",
            lambda _scene, lasts: OtherSubscriber(at=NOW, lasts=lasts, reads=False),
            group="stream",
        ),
    )


def events_buttons() -> tuple[Button, ...]:
    """Single events, of one pod or of all."""
    return (
        _fault(
            "lose-events",
            seconds(20),
            "No event comes, of this pod or of all.",
            lambda scene, lasts: EventsLost(at=NOW, lasts=lasts, pods=scene.glob),
            target="any",
            group="events",
        ),
        _fault(
            "lose-stops",
            seconds(20),
            "Every event comes but those that a container stopped: the hint is what is missing.",
            lambda scene, lasts: EventsLost(
                at=NOW, lasts=lasts, pods=scene.glob, events=("stopped",)
            ),
            target="any",
            group="events",
        ),
        _fault(
            "double-events",
            seconds(20),
            "Each event comes twice.",
            lambda scene, lasts: EventsDoubled(at=NOW, lasts=lasts, pods=scene.glob),
            target="any",
            group="events",
        ),
        _fault(
            "reorder-events",
            seconds(20),
            "Each event comes up to 2 s late, and later ones overtake it.",
            lambda scene, lasts: EventsReordered(
                at=NOW, lasts=lasts, pods=scene.glob, by=(millis(50), seconds(2))
            ),
            target="any",
            group="events",
        ),
        _fault(
            "strip-uid",
            seconds(20),
            "Events name their pod, but not its UID.",
            lambda scene, lasts: EventsDamaged(at=NOW, lasts=lasts, pods=scene.glob, without="uid"),
            target="any",
            group="events",
        ),
        _fault(
            "strip-metadata",
            seconds(20),
            "Events carry a sandbox status that names no pod.",
            lambda scene, lasts: EventsDamaged(
                at=NOW, lasts=lasts, pods=scene.glob, without="metadata"
            ),
            target="any",
            group="events",
        ),
        _fault(
            "strip-sandbox",
            seconds(20),
            "Events carry no sandbox status at all.",
            lambda scene, lasts: EventsDamaged(
                at=NOW, lasts=lasts, pods=scene.glob, without="sandbox-status"
            ),
            target="any",
            group="events",
        ),
        _fault(
            "misdate-events",
            seconds(20),
            "Events say that they were made an hour ago.",
            lambda scene, lasts: EventsMisdated(
                at=NOW, lasts=lasts, pods=scene.glob, by=Offset(-seconds(3600))
            ),
            target="any",
            group="events",
        ),
        _fault(
            "undate-events",
            seconds(20),
            "Events do not say when they were made.",
            lambda scene, lasts: EventsMisdated(at=NOW, lasts=lasts, pods=scene.glob),
            target="any",
            group="events",
        ),
    )


def lists_buttons() -> tuple[Button, ...]:
    """List calls and inspections."""
    return (
        _fault(
            "slow-lists",
            seconds(20),
            "Every list call takes 0.4 to 0.9 s longer.",
            lambda _scene, lasts: ListsSlow(at=NOW, lasts=lasts, by=(millis(400), millis(900))),
            group="lists",
        ),
        _fault(
            "fail-lists",
            seconds(15),
            "Every list call fails.",
            lambda _scene, lasts: ListsFail(at=NOW, lasts=lasts),
            group="lists",
        ),
        _fault(
            "hang-lists",
            seconds(20),
            "List calls get no answer until this is over; everything else does.",
            lambda _scene, lasts: ListsHang(at=NOW, lasts=lasts),
            group="lists",
        ),
        _fault(
            "fail-inspection",
            seconds(20),
            "The status of this pod cannot be read.",
            lambda scene, lasts: InspectionsFail(at=NOW, lasts=lasts, pods=scene.glob),
            target="pod",
            group="lists",
        ),
        _fault(
            "slow-inspection",
            seconds(20),
            "The status of this pod, or of each, takes 1 to 3 s longer.",
            lambda scene, lasts: InspectionsSlow(
                at=NOW, lasts=lasts, pods=scene.glob, by=(seconds(1), seconds(3))
            ),
            target="any",
            group="lists",
        ),
    )


def runtime_buttons() -> tuple[Button, ...]:
    """The runtime as a whole."""
    return (
        _fault(
            "restart-runtime",
            seconds(4),
            "The runtime is gone and comes back: calls fail, the stream breaks, ends go unnoticed.",
            lambda _scene, lasts: RuntimeRestarts(at=NOW, lasts=lasts),
            group="runtime",
        ),
        _fault(
            "freeze-runtime",
            seconds(20),
            "The runtime answers nothing and fails nothing; the stream stays open.",
            lambda _scene, lasts: RuntimeFreezes(at=NOW, lasts=lasts),
            group="runtime",
        ),
    )


def kubelet_buttons() -> tuple[Button, ...]:
    """The kubelet around the PLEG: its queues, its sync loop, its pod workers."""
    return (
        _fault(
            "fill-queue",
            seconds(5),
            "Each stop event comes 300 times more: the queue of requests has 200 places.",
            lambda scene, lasts: EventsRepeated(at=NOW, lasts=lasts, pods=scene.glob),
            group="kubelet",
            target="any",
        ),
        _fault(
            "fill-channel",
            seconds(20),
            "Nobody takes lifecycle events, and their channel has room for one more only.",
            lambda _scene, lasts: SyncLoopStalls(at=NOW, lasts=lasts, room=1),
            group="kubelet",
        ),
        _fault(
            "stall-sync-loop",
            seconds(20),
            "Nobody takes lifecycle events: what the PLEG finds out is not acted upon.",
            lambda _scene, lasts: SyncLoopStalls(at=NOW, lasts=lasts),
            group="kubelet",
        ),
        _fault(
            "slow-sync",
            seconds(30),
            "SyncPods of this pod, or of all, wait 5 to 10 s: their relists are suspended.",
            lambda scene, lasts: SyncPodsSlow(at=NOW, lasts=lasts, pods=scene.glob),
            group="kubelet",
            target="any",
        ),
    )


def node_buttons() -> tuple[Button, ...]:
    """The processes of many pods at once."""
    return (
        _fault(
            "short-lived",
            seconds(10),
            "Every second or so a pod comes whose container lives for 20 to 200 ms.",
            lambda _scene, lasts: ShortLivedPods(at=NOW, lasts=lasts),
            group="pods",
        ),
        _fault(
            "storm",
            Ns(0),
            "The processes of all containers end at once, out of memory.",
            lambda _scene, lasts: TerminationStorm(at=NOW, lasts=lasts),
            group="pods",
        ),
    )

"""The buttons that begin a fault: it is at work for a while, and can be lifted.

What a fault imitates it says itself (``faults.py``), unless a button is more exact.
"""

from collections.abc import Callable
from random import Random

from app.sim.button import Button, Group, Made, Scene, Target
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
    text: str,
    lasts: Ns,
    does: str,
    make: Callable[[Scene, Ns], Fault],
    *,
    group: Group,
    target: Target = "none",
    imitates: str = "",
) -> Button:
    """A button for one fault; it imitates what the fault says, unless told more exactly."""
    sample = make(Scene(lasts, None, (), Random(0)), lasts)  # noqa: S311  (it draws nothing)
    return Button(
        name=name,
        text=text,
        group=group,
        does=does,
        imitates=imitates or sample.imitates,
        lasts=lasts,
        target=target,
        make=lambda scene: Made(make(scene, lasts if scene.lasts is None else scene.lasts)),
    )


def stream_buttons() -> tuple[Button, ...]:
    """The event stream as a whole."""
    return (
        _fault(
            "refuse-stream",
            "Refuse the stream",
            seconds(30),
            "The stream ends, and is answered Unimplemented when it is opened again.",
            lambda _scene, lasts: StreamRefused(at=NOW, lasts=lasts),
            group="stream",
        ),
        _fault(
            "end-stream",
            "End the stream cleanly",
            seconds(10),
            "The stream ends without an error, and so does each that is opened meanwhile.",
            lambda _scene, lasts: StreamEnds(at=NOW, lasts=lasts, how="cleanly"),
            imitates=(
                "CRI-O, which closes its streams without an error when it stops, and at once when "
                "its events are switched off."
            ),
            group="stream",
        ),
        _fault(
            "break-stream",
            "Break the stream",
            seconds(10),
            "The stream breaks with an error, and so does each that is opened meanwhile.",
            lambda _scene, lasts: StreamEnds(at=NOW, lasts=lasts, how="broken"),
            imitates="A connection that is torn down, as by a runtime that crashes.",
            group="stream",
        ),
        _fault(
            "silence-stream",
            "Silence the stream",
            seconds(20),
            "The stream stays open and brings nothing; what was not told is never told.",
            lambda _scene, lasts: StreamSilent(at=NOW, lasts=lasts),
            group="stream",
        ),
        _fault(
            "hold-stream",
            "Hold events back",
            seconds(15),
            "The stream stays open and brings nothing; in the end all of it comes at once.",
            lambda _scene, lasts: StreamSilent(at=NOW, lasts=lasts, late=True),
            imitates="A proxy, or a runtime's full buffer, that holds messages back for a while.",
            group="stream",
        ),
        _fault(
            "delay-stream",
            "Delay events",
            seconds(20),
            "Every event comes 0.5 to 2 s late, in order.",
            lambda _scene, lasts: StreamDelayed(at=NOW, lasts=lasts, by=(millis(500), seconds(2))),
            group="stream",
        ),
        _fault(
            "add-subscriber",
            "Add a subscriber",
            seconds(30),
            "Another client listens to the stream as well, and reads what it gets.",
            lambda _scene, lasts: OtherSubscriber(at=NOW, lasts=lasts),
            imitates=(
                "A dashboard or an agent on the runtime's socket: on containerd 1.7 it takes every "
                "other event away, elsewhere it costs nothing."
            ),
            group="stream",
        ),
        _fault(
            "stop-reading",
            "Add one that does not read",
            seconds(60),
            "Another client opens the stream and never reads: after some 300 events it is full.",
            lambda _scene, lasts: OtherSubscriber(at=NOW, lasts=lasts, reads=False),
            imitates=(
                "A client under SIGSTOP (Ctrl-Z): on containerd 2.x CreateContainer and "
                "RunPodSandbox hang for the whole node, and nobody gets events, while lists answer."
            ),
            group="stream",
        ),
    )


def events_buttons() -> tuple[Button, ...]:
    """Single events, of one pod or of all."""
    return (
        _fault(
            "lose-events",
            "Lose events",
            seconds(20),
            "No event comes, of this pod or of all.",
            lambda scene, lasts: EventsLost(at=NOW, lasts=lasts, pods=scene.glob),
            target="any",
            group="events",
        ),
        _fault(
            "lose-stops",
            "Lose stop events",
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
            "Double events",
            seconds(20),
            "Each event comes twice.",
            lambda scene, lasts: EventsDoubled(at=NOW, lasts=lasts, pods=scene.glob),
            target="any",
            group="events",
        ),
        _fault(
            "reorder-events",
            "Reorder events",
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
            "Take the UID away",
            seconds(20),
            "Events name their pod, but not its UID.",
            lambda scene, lasts: EventsDamaged(at=NOW, lasts=lasts, pods=scene.glob, without="uid"),
            target="any",
            imitates="A sandbox that was not made by a kubelet, or a runtime that leaves it out.",
            group="events",
        ),
        _fault(
            "strip-metadata",
            "Take the metadata away",
            seconds(20),
            "Events carry a sandbox status that names no pod.",
            lambda scene, lasts: EventsDamaged(
                at=NOW, lasts=lasts, pods=scene.glob, without="metadata"
            ),
            target="any",
            imitates="containerd 1.7's last event of a sandbox, which names no pod.",
            group="events",
        ),
        _fault(
            "strip-sandbox",
            "Take the sandbox status away",
            seconds(20),
            "Events carry no sandbox status at all.",
            lambda scene, lasts: EventsDamaged(
                at=NOW, lasts=lasts, pods=scene.glob, without="sandbox-status"
            ),
            target="any",
            imitates="A runtime that could no longer find the sandbox when it sent the event.",
            group="events",
        ),
        _fault(
            "misdate-events",
            "Set created_at back",
            seconds(20),
            "Events say that they were made an hour ago.",
            lambda scene, lasts: EventsMisdated(
                at=NOW, lasts=lasts, pods=scene.glob, by=Offset(-seconds(3600))
            ),
            target="any",
            imitates="Clocks that disagree, or a runtime that tells the container's own birth.",
            group="events",
        ),
        _fault(
            "undate-events",
            "Leave created_at out",
            seconds(20),
            "Events do not say when they were made.",
            lambda scene, lasts: EventsMisdated(at=NOW, lasts=lasts, pods=scene.glob),
            target="any",
            imitates="Go's zero time in the field, as containerd sends it for a removed sandbox.",
            group="events",
        ),
    )


def lists_buttons() -> tuple[Button, ...]:
    """List calls and inspections."""
    return (
        _fault(
            "slow-lists",
            "Slow lists",
            seconds(20),
            "Every list call takes 0.4 to 0.9 s longer.",
            lambda _scene, lasts: ListsSlow(at=NOW, lasts=lasts, by=(millis(400), millis(900))),
            group="lists",
        ),
        _fault(
            "fail-lists",
            "Failing lists",
            seconds(15),
            "Every list call fails.",
            lambda _scene, lasts: ListsFail(at=NOW, lasts=lasts),
            group="lists",
        ),
        _fault(
            "hang-lists",
            "Hanging lists",
            seconds(20),
            "List calls get no answer until this is over; everything else does.",
            lambda _scene, lasts: ListsHang(at=NOW, lasts=lasts),
            group="lists",
        ),
        _fault(
            "fail-inspection",
            "Failing inspection",
            seconds(20),
            "The status of this pod cannot be read.",
            lambda scene, lasts: InspectionsFail(at=NOW, lasts=lasts, pods=scene.glob),
            target="pod",
            group="lists",
        ),
        _fault(
            "slow-inspection",
            "Slow inspection",
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
            "Restart the runtime",
            seconds(4),
            "The runtime is gone and comes back: calls fail, the stream breaks, ends go unnoticed.",
            lambda _scene, lasts: RuntimeRestarts(at=NOW, lasts=lasts),
            group="runtime",
        ),
        _fault(
            "freeze-runtime",
            "Freeze the runtime",
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
            "Fill the request queue",
            seconds(5),
            "Each stop event comes 300 times more: the queue of requests has 200 places.",
            lambda scene, lasts: EventsRepeated(at=NOW, lasts=lasts, pods=scene.glob),
            group="kubelet",
            target="any",
        ),
        _fault(
            "fill-channel",
            "Fill the event channel",
            seconds(20),
            "Nobody takes lifecycle events, and their channel has room for one more only.",
            lambda _scene, lasts: SyncLoopStalls(at=NOW, lasts=lasts, room=1),
            group="kubelet",
            imitates=(
                "A sync loop that has stood still for long: 1000 events wait, and what finds no "
                "place is discarded and never told again."
            ),
        ),
        _fault(
            "stall-sync-loop",
            "Stall the sync loop",
            seconds(20),
            "Nobody takes lifecycle events: what the PLEG finds out is not acted upon.",
            lambda _scene, lasts: SyncLoopStalls(at=NOW, lasts=lasts),
            group="kubelet",
            imitates=(
                "A sync loop that waits for a lock, or skips its turns because the runtime is not "
                "ready."
            ),
        ),
        _fault(
            "slow-sync",
            "Long SyncPod",
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
            "Short-lived containers",
            seconds(10),
            "Every second or so a pod comes whose container lives for 20 to 200 ms.",
            lambda _scene, lasts: ShortLivedPods(at=NOW, lasts=lasts),
            group="pods",
        ),
        _fault(
            "storm",
            "Termination storm",
            Ns(0),
            "The processes of all containers end at once, out of memory.",
            lambda _scene, lasts: TerminationStorm(at=NOW, lasts=lasts),
            group="pods",
        ),
    )

"""What the engine wants done. A source or a driver carries it out and answers with an input."""

import msgspec


class Effect(msgspec.Struct, frozen=True, kw_only=True, tag_field="effect"):
    """Something the engine wants done."""


class ListPods(Effect, frozen=True, tag="list"):
    """ListPodSandbox, then ListContainers; of one pod (label selector) when ``uid`` is given.

    Answered by ``PodsListed`` or ``PodsListFailed`` with the same ``call``.
    """

    call: int
    uid: str | None = None


class InspectPod(Effect, frozen=True, tag="inspect"):
    """PodSandboxStatus of each sandbox and ContainerStatus of each container; NotFound left out.

    Answered by ``PodInspected`` or ``PodInspectFailed`` with the same ``call``.
    """

    call: int
    uid: str
    sandbox_ids: tuple[str, ...]
    container_ids: tuple[str, ...]


class OpenStream(Effect, frozen=True, tag="open_stream"):
    """Subscribe to GetContainerEvents. Answered by StreamOpened, StreamLive, … StreamEnded."""


class CloseStream(Effect, frozen=True, tag="close_stream"):
    """Cancel the subscription or the attempt at one; no ``StreamEnded`` needs to follow."""


class WakeAt(Effect, frozen=True, tag="wake_at"):
    """Send ``TimerFired`` at ``at`` (monotonic ns of the session). Replaces this timer's last."""

    timer: str
    token: int
    at: int


class CancelWake(Effect, frozen=True, tag="cancel_wake"):
    """Forget this timer."""

    timer: str

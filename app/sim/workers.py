"""The kubelet around the pod workers: its sync loop, and who is told what.

The sync loop reads the PLEG's lifecycle events, here the ``Lifecycle`` records that were sent, and
acts on them as kubelet.go does: ContainerStarted, ContainerDied and PodSync make the pod sync,
ContainerRemoved does not; ContainerDied also has the container's older dead instances removed (one
is kept); events of a pod that the kubelet does not know are ignored. Nothing else moves a pod: when
the PLEG does not notice a death, nothing is restarted.

Records arrive from within the engine's step. Nothing is done there but to note them in the agenda;
inputs are fed later, from the agenda, never from within ``on_record``.
"""

from collections import Counter
from collections.abc import Callable

import msgspec

from app.engine.inputs import EventsTaken, Input, ReinspectRequested
from app.engine.records import HealthChanged, Lifecycle, Record
from app.sim.agenda import Agenda, Appointment
from app.sim.availability import Availability
from app.sim.backoff import CrashLoopBackoff
from app.sim.chance import generator
from app.sim.flavour import SECOND
from app.sim.milestones import Milestone
from app.sim.podcache import PodCacheView
from app.sim.pods import (
    Ending,
    PodSpec,
    ProbeKind,
    Resources,
    container_config,
    sandbox_config,
)
from app.sim.prober import Prober
from app.sim.processes import Processes, Witness
from app.sim.syncloop import TICK_NS, SyncLoop
from app.sim.syncpod import PodSync
from app.sim.timings import Pace, Timings
from app.sim.worker import PodWorker
from app.sim.world import World, WorldError

SYNC_WORTHY = ("ContainerStarted", "ContainerDied", "PodSync")


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How fast the kubelet's clocks go.

    ``backoff_scale`` shortens the crash loop back-off (10 s to 5 min) and the pause after a failed
    sync (10 s). A tenth by default, 1 s to 30 s: so a viewer sees it grow within a minute.
    """

    backoff_scale: float = 0.1
    timings: Timings = Timings()


class PodWorkers:
    """All pod workers of the node. ``feed`` hands inputs to the engine."""

    def __init__(
        self,
        agenda: Agenda,
        world: World,
        feed: Callable[[Input], None],
        seed: int,
        settings: WorkerSettings | None = None,
        *,
        witness: Witness | None = None,
    ) -> None:
        settings = settings or WorkerSettings()
        self.agenda = agenda
        self.cache = PodCacheView()
        self.seed = seed
        self.feed = feed
        self.retry_ns = round(10 * SECOND * settings.backoff_scale)
        self._world = world
        self.runtime = Availability(agenda)
        """Whether the runtime answers; a fault changes it."""
        self.processes = Processes(agenda, world, seed, self.runtime, witness)
        self._backoff = CrashLoopBackoff(settings.backoff_scale)
        self.pod_sync = PodSync(
            agenda,
            world,
            self.processes,
            self._backoff,
            timings=settings.timings,
            availability=self.runtime,
        )
        self.pod_sync.on_resized = self._reinspect
        self.probes_failed: Counter[ProbeKind] = Counter()
        """Containers of running pods whose probe has failed for good."""
        self._prober = Prober(agenda, seed, self._probe_failed)
        self.on_milestone: list[Callable[[Milestone], None]] = []
        """Called with everything that the kubelet has got done with a pod."""
        self._loop = SyncLoop(agenda, self._act_on)
        self._pods: dict[str, PodWorker] = {}
        self.waiting: dict[str, None] = {}
        """UIDs of the pods whose worker waits for a fresh cache entry."""

    # ----------------------------------------------------------- what the API server orders

    def add(self, pod: PodSpec) -> None:
        """A pod was assigned to this node; one that is known already is left alone."""
        asked_t = self.agenda.clock.mono()

        def take() -> None:
            if pod.uid not in self._pods:
                self._pods[pod.uid] = PodWorker(self, pod, asked_t)
                self._pods[pod.uid].poke()

        self._loop.order(take)

    def adopt(self, pod: PodSpec, age_ns: int) -> None:
        """A pod that has been running for ``age_ns`` when the kubelet starts.

        A container whose program is not there failed to start then.
        """
        self._pods[pod.uid] = PodWorker(self, pod)
        born = self.agenda.clock.wall() - age_ns
        sandbox = self._world.run_sandbox(sandbox_config(pod, 0), born)
        for spec in pod.containers:
            try:
                container = self._world.create_container(
                    sandbox.id, container_config(pod, spec, 0), born
                )
                started = self._world.start_container(container.id, born)
            except WorldError:
                continue
            self.processes.begin(started, spec, pod.uid)
            self._prober.begin(pod.uid, spec, started.id, old=True)

    def resize(self, uid: str, name: str, resources: Resources) -> None:
        """A container is to have other resources in place; what does not exist is ignored."""
        asked_t = self.agenda.clock.mono()

        def take() -> None:
            worker = self._pods.get(uid)
            if worker is not None and any(one.name == name for one in worker.pod.containers):
                worker.wants(name, resources, asked_t)

        self._loop.order(take)

    def delete(self, uid: str) -> None:
        """The pod is to go; an unknown one is ignored."""
        asked_t = self.agenda.clock.mono()

        def take() -> None:
            worker = self._pods.get(uid)
            if worker is not None and not worker.deleted:
                worker.delete(asked_t)

        self._loop.order(take)

    # -------------------------------------------------------------- what happens to a pod

    def end_container(self, uid: str, name: str, ending: Ending) -> bool:
        """A container's process ends now; False when it does not run."""
        container_id = self._running(uid, name)
        return container_id is not None and self.processes.end(container_id, ending)

    def end_sandbox(self, uid: str) -> bool:
        """The pause process of the pod's newest sandbox ends; False when there is none."""
        ready = [one.id for one in self._world.pod_sandboxes(uid) if one.state == "ready"]
        if ready:
            self.processes.end_pause(ready[-1])
        return bool(ready)

    def fail_probe(self, uid: str, names: tuple[str, ...], probe: ProbeKind = "liveness") -> None:
        """Probes of running containers fail."""
        for name in names:
            container_id = self._running(uid, name)
            if container_id is not None:
                self._probe_failed(uid, container_id, probe)

    # ------------------------------------------------------------------------ the records

    def on_record(self, record: Record) -> None:
        """Note a record of the journal; what follows from it happens through the agenda."""
        fresher = self.cache.on_record(record)
        if fresher == "":
            self.agenda.after(0, self._wake_all)
        elif fresher is not None and fresher in self.waiting:
            self.agenda.after(0, lambda: self._wake(fresher))
        if isinstance(record, Lifecycle) and record.delivery == "sent":
            self.agenda.after(0, lambda: self._loop.receive(record))
        elif isinstance(record, HealthChanged):
            self.agenda.after(0, lambda: self._loop.on_health(healthy=record.healthy))

    def stall(self) -> None:
        """The sync loop takes no event from now on; they wait in their channel."""
        self._loop.stall()

    def resume(self) -> int:
        """The sync loop goes on, with what waits first; returns how many events that is."""
        return self._loop.resume()

    def sync_again(self, uid: str) -> None:
        """There is a reason to sync that no event brought; an unknown pod is ignored."""
        worker = self._pods.get(uid)
        if worker is not None:
            worker.poke()

    # ------------------------------------------------------------------- what workers need

    def requeue(self, delay_ns: int, worker: PodWorker) -> Appointment:
        """Poke this worker when the sync loop looks into the work queue after so long."""
        due = self.agenda.clock.mono() + delay_ns
        tick = -(-due // TICK_NS) * TICK_NS
        return self.agenda.at(tick, lambda: self._loop.order(worker.poke))

    def started(self, pod: PodSpec, name: str, container_id: str) -> None:
        """A container of this pod was started: it is probed from now on."""
        spec = next(one for one in pod.containers if one.name == name)
        self._prober.begin(pod.uid, spec, container_id)

    def reached(self, milestone: Milestone) -> None:
        """The kubelet has got somewhere with a pod."""
        for call in self.on_milestone:
            call(milestone)

    def forget(self, uid: str) -> None:
        """A worker has removed its pod."""
        self._pods.pop(uid, None)
        self._backoff.forget(uid)

    def hold(self) -> None:
        """From now on nothing happens on the node by itself.

        SyncPods in progress are cancelled (which the engine is told), pods stay as they are, no
        process ends. An end that has come is still noticed by the runtime.
        """
        self.processes.hold()
        self._loop.clear()
        for worker in self._pods.values():
            worker.stop()
        self._pods.clear()

    def stop(self) -> None:
        """End all workers where they are; nothing is fed any more."""
        self.feed = _ignore
        self._loop.clear()
        for worker in self._pods.values():
            worker.stop()
        self._pods.clear()

    @property
    def pods(self) -> tuple[PodSpec, ...]:
        """The pods that the kubelet knows."""
        return tuple(worker.pod for worker in self._pods.values())

    def _act_on(self, event: Lifecycle) -> None:
        clock = self.agenda.clock
        self.feed(EventsTaken(t=clock.mono(), wall=clock.wall(), count=1))
        worker = self._pods.get(event.uid)
        if worker is None:
            return
        if event.type == "ContainerDied":
            self._clean_up(worker, event.container_id)
        if event.type in SYNC_WORTHY:
            worker.poke()

    def _clean_up(self, worker: PodWorker, container_id: str) -> None:
        """kubelet pod_container_deletor.go: of a container's dead instances, keep the newest."""
        containers = self.cache.get(worker.pod.uid).status.containers
        name = next((one.name for one in containers if one.id == container_id), None)
        dead = [one.id for one in containers if one.name == name and one.runtime_state == "exited"]
        if len(dead) > 1:
            pace = Pace(generator(self.seed, "clean up", container_id))
            self.agenda.start(self.pod_sync.remove(tuple(dead[1:]), pace))

    def _reinspect(self, uid: str) -> None:
        clock = self.agenda.clock
        self.feed(ReinspectRequested(t=clock.mono(), wall=clock.wall(), uid=uid))

    def _probe_failed(self, uid: str, container_id: str, probe: ProbeKind) -> None:
        """Whichever probe it is, the next SyncPod kills the container."""
        worker = self._pods.get(uid)
        if worker is not None and self._world.is_running(container_id):
            self.probes_failed[probe] += 1
            self._loop.order(lambda: worker.probe_failed(container_id))

    def _running(self, uid: str, name: str) -> str | None:
        return next(
            (
                one.id
                for one in self._world.pod_containers(uid)
                if one.config.name == name and one.state == "running"
            ),
            None,
        )

    def _wake_all(self) -> None:
        # Who still has to wait enters again.
        waiting, self.waiting = self.waiting, {}
        for uid in waiting:
            self._wake(uid)

    def _wake(self, uid: str) -> None:
        self.waiting.pop(uid, None)
        worker = self._pods.get(uid)
        if worker is not None:
            worker.go_on()


def _ignore(_happened: Input) -> None:
    """Where inputs go once the node has stopped."""

"""The processes inside containers: how long they run, how they end, when the runtime notices.

An end has two times: the process is gone at ``finished_at``, and the runtime knows, lists and
tells it some 30 to 130 ms later (``RuntimeRules.exit_lag``). So it is on real nodes: the delay lies
in the runtime, before the event's ``created_at``.
"""

from random import Random

from app.sim.agenda import Agenda, Appointment, Signal
from app.sim.chance import between, generator
from app.sim.objects import Container
from app.sim.pods import KILLED, ContainerSpec, Ending
from app.sim.world import World


class _Running:
    """One live process; ``ended`` fires when the runtime has noticed its end."""

    def __init__(self, spec: ContainerSpec, rng: Random, ended: Signal) -> None:
        self.spec = spec
        self.rng = rng
        self.ended = ended
        self.next_end: Appointment | None = None
        self.dead = False


class Processes:
    """The node's processes, by container id."""

    def __init__(self, agenda: Agenda, world: World, seed: int) -> None:
        self._agenda = agenda
        self._world = world
        self._seed = seed
        self._running: dict[str, _Running] = {}

    def begin(self, container: Container, spec: ContainerSpec, uid: str) -> None:
        """A container was started; if its process ends by itself, that is settled now."""
        rng = generator(self._seed, "process", uid, spec.name, container.config.attempt)
        process = _Running(spec, rng, self._agenda.signal())
        self._running[container.id] = process
        if spec.lifetime is not None:
            endings = spec.lifetime.endings
            (ending,) = rng.choices(endings, [one.weight for one in endings])
            self._end_in(between(rng, spec.lifetime.span), container.id, process, ending)

    def end(self, container_id: str, ending: Ending) -> bool:
        """Something ends the process at this moment; False when there is none to end."""
        process = self._running.get(container_id)
        if process is None or process.dead:
            return False
        self._die(container_id, process, ending)
        return True

    def terminate(self, container_id: str, grace_ns: int) -> Signal:
        """StopContainer: SIGTERM, and SIGKILL when the grace time is over.

        The signal fires when the runtime has seen the container exit; at once if it does not run.
        """
        process = self._running.get(container_id)
        if process is None:
            gone = self._agenda.signal()
            gone.fire()
            return gone
        if not process.dead:
            term = process.spec.term
            takes = None if term is None else between(process.rng, term)
            if takes is not None and takes <= grace_ns:
                self._end_in(takes, container_id, process, Ending(0, "Completed"))
            else:
                self._end_in(grace_ns, container_id, process, KILLED)
        return process.ended

    def _end_in(self, delay_ns: int, container_id: str, process: _Running, ending: Ending) -> None:
        if process.next_end is not None:
            process.next_end.cancel()
        process.next_end = self._agenda.after(
            delay_ns, lambda: self._die(container_id, process, ending)
        )

    def _die(self, container_id: str, process: _Running, ending: Ending) -> None:
        if process.next_end is not None:
            process.next_end.cancel()
        process.dead = True
        finished_at = self._agenda.clock.wall()
        self._agenda.after(
            self._world.rules.draw_exit_lag(process.rng),
            lambda: self._notice(container_id, process, ending, finished_at),
        )

    def _notice(
        self, container_id: str, process: _Running, ending: Ending, finished_at: int
    ) -> None:
        del self._running[container_id]
        # The runtime may have killed and removed it by another way meanwhile.
        if self._world.is_running(container_id):
            self._world.exit_container(
                container_id,
                ending.exit_code,
                ending.reason,
                finished_at,
                self._agenda.clock.wall(),
            )
        process.ended.fire()

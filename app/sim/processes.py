"""The processes inside containers: how long they run, how they end, when the runtime notices.

An end has two times: the process is gone at ``finished_at``, and the runtime knows, lists and
tells it some 30 to 130 ms later (``RuntimeRules.exit_lag``), or seconds when many ends come at
once. So it is on real nodes: the delay lies in the runtime, before the event's ``created_at``.
A frozen runtime notices when it goes on; one that was down learns that the process is gone, and on
containerd since 1.7 nothing else.

CRI-O tells of a start some milliseconds later, and with the state of that moment: of a process that
has ended by then, STARTED carries EXITED.
"""

from random import Random
from typing import Protocol

from app.sim.agenda import Agenda, Appointment, Signal
from app.sim.availability import Availability
from app.sim.chance import between, generator
from app.sim.objects import Container
from app.sim.pods import KILLED, ContainerSpec, Ending
from app.sim.world import World


class Witness(Protocol):
    """Sees what truly happens, whether or not anybody else notices. Times monotonic ns."""

    def began(self, container_id: str, t: int) -> None:
        """A process was started."""
        ...

    def ended(self, container_id: str, t: int) -> None:
        """A process is gone."""
        ...


class NoWitness:
    """Nobody looks."""

    def began(self, container_id: str, t: int) -> None:
        """Not noted."""

    def ended(self, container_id: str, t: int) -> None:
        """Not noted."""


class _Running:
    """One live process; ``ended`` fires when the runtime has noticed its end."""

    def __init__(self, spec: ContainerSpec, rng: Random, ended: Signal) -> None:
        self.spec = spec
        self.rng = rng
        self.ended = ended
        self.next_end: Appointment | None = None
        self.dead = False
        self.last: tuple[Ending, int] | None = None
        """How and when (wall ns) it ended, once it has."""
        self.starts = 0
        """How often the runtime had come back by then."""


class Processes:
    """The node's processes, by container id."""

    def __init__(
        self,
        agenda: Agenda,
        world: World,
        seed: int,
        availability: Availability | None = None,
        witness: Witness | None = None,
    ) -> None:
        self._agenda = agenda
        self._world = world
        self._seed = seed
        self._availability = availability or Availability(agenda)
        self._witness = witness or NoWitness()
        self._running: dict[str, _Running] = {}
        self.unnoticed = 0
        """Processes that are gone while the runtime still takes them for running."""
        self._late = generator(seed, "late starts")
        if world.rules.started_lag is not None:
            world.tell_later = self._tell_later

    def hold(self) -> None:
        """No process ends any more by itself; ends that have come are still noticed."""
        for process in self._running.values():
            if process.next_end is not None:
                process.next_end.cancel()

    def begin(self, container: Container, spec: ContainerSpec, uid: str) -> None:
        """A container was started; if its process ends by itself, that is settled now."""
        rng = generator(self._seed, "process", uid, spec.name, container.config.attempt)
        process = _Running(spec, rng, self._agenda.signal())
        self._running[container.id] = process
        self._witness.began(container.id, self._agenda.clock.mono())
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

    def end_pause(self, sandbox_id: str) -> None:
        """A sandbox's own process is killed; the runtime notices as it does of containers."""
        lag = self._world.rules.draw_exit_lag(generator(self._seed, "pause process", sandbox_id))
        starts = self._availability.starts
        self._agenda.after(lag, lambda: self._notice_pause(sandbox_id, starts))

    def vanish(self, container_id: str) -> None:
        """The process is ended in such a way that the runtime does not tell of it."""
        process = self._running.get(container_id)
        if process is None:
            return
        if not process.dead:
            self._bury(container_id, process)
        self._done(container_id, process)

    def _tell_later(self, container_id: str) -> None:
        """CRI-O: the event of a start is made somewhat later, after a look at the process."""
        span = self._world.rules.started_lag
        assert span is not None

        def tell() -> None:
            if self._availability.state == "down":
                self._world.forget_start(container_id)
                return
            process = self._running.get(container_id)
            if process is not None and process.last and self._world.is_running(container_id):
                ending, finished_at = process.last
                self._world.see_exit(container_id, ending.exit_code, ending.reason, finished_at)
            self._world.tell_started(container_id, self._agenda.clock.wall())

        self._agenda.after(between(self._late, span), tell)

    def _end_in(self, delay_ns: int, container_id: str, process: _Running, ending: Ending) -> None:
        if process.next_end is not None:
            process.next_end.cancel()
        process.next_end = self._agenda.after(
            delay_ns, lambda: self._die(container_id, process, ending)
        )

    def _die(self, container_id: str, process: _Running, ending: Ending) -> None:
        self._bury(container_id, process)
        rules = self._world.rules
        finished_at = self._agenda.clock.wall() + rules.draw_finished_off(process.rng)
        process.last = ending, finished_at
        if self._availability.state == "down":
            # It is the first thing that the runtime finds when it is back.
            self._notice(container_id, process, ending, finished_at)
            return
        self._agenda.after(
            rules.draw_exit_lag(process.rng),
            lambda: self._look(container_id, process, ending, finished_at),
        )

    def _bury(self, container_id: str, process: _Running) -> None:
        """It is gone."""
        if process.next_end is not None:
            process.next_end.cancel()
        process.dead = True
        process.starts = self._availability.starts
        self.unnoticed += 1
        self._witness.ended(container_id, self._agenda.clock.mono())

    def _look(self, container_id: str, process: _Running, ending: Ending, finished_at: int) -> None:
        """The runtime would notice now; but it may be busy, stopped or gone."""
        if self._running.get(container_id) is not process:
            return
        rules, crowd = self._world.rules, self.unnoticed - 1

        def notice() -> None:
            self._notice(container_id, process, ending, finished_at)

        if crowd and self._availability.state == "up":
            self._agenda.after(rules.draw_crowd_lag(process.rng, crowd), notice)
        else:
            notice()

    def _notice(
        self, container_id: str, process: _Running, ending: Ending, finished_at: int
    ) -> None:
        if self._running.get(container_id) is not process:
            return
        state = self._availability.state
        if state == "frozen":
            self._availability.on_change(
                lambda: self._look(container_id, process, ending, finished_at)
            )
            return
        if state == "down":
            self._availability.on_change(
                lambda: self._notice(container_id, process, ending, finished_at)
            )
            return
        if process.starts != self._availability.starts:
            self._overlook(container_id, process, ending, finished_at)
            return
        # The runtime may have killed and removed it by another way meanwhile.
        if self._world.owes_end(container_id):
            self._world.exit_container(
                container_id,
                ending.exit_code,
                ending.reason,
                finished_at,
                self._agenda.clock.wall(),
            )
        self._done(container_id, process)

    def _overlook(
        self, container_id: str, process: _Running, ending: Ending, finished_at: int
    ) -> None:
        """The runtime is back and finds that the process is gone."""
        if self._world.is_running(container_id):
            self._world.overlook_exit(
                container_id,
                ending.exit_code,
                ending.reason,
                finished_at,
                self._agenda.clock.wall(),
            )
        self._done(container_id, process)

    def _notice_pause(self, sandbox_id: str, starts: int) -> None:
        if self._availability.state != "up":
            self._availability.on_change(lambda: self._notice_pause(sandbox_id, starts))
        elif starts != self._availability.starts:
            self._world.overlook_sandbox_exit(sandbox_id)
        elif self._world.look_up(sandbox_id) is not None:
            self._world.exit_sandbox(sandbox_id, self._agenda.clock.wall())

    def _done(self, container_id: str, process: _Running) -> None:
        del self._running[container_id]
        self.unnoticed -= 1
        process.ended.fire()

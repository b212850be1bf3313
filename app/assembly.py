"""Puts a session together: the only place that knows all rooms."""

import asyncio
import os
import random
import secrets
import signal
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec
import uvloop

from app.clock import RealClock
from app.cri.client import CriClient, Deadlines
from app.cri.endpoints import find_endpoint
from app.cri.probe import Probe, probe
from app.cri.source import CriSource
from app.dashboard import Dashboard, door_of
from app.driver import Driver
from app.engine.engine import Engine
from app.engine.inputs import Input, RuntimeProbed
from app.engine.profiles import PROFILES
from app.engine.records import Note
from app.engine.settings import EngineSettings
from app.errors import RecordingError, RuntimeSilent, RuntimeUnusable, SettingsError
from app.greeting import greeting, recorded, recorded_where
from app.journal.journal import Journal
from app.jsonl import JsonlWriter
from app.recording import live
from app.recording.recorder import Recorder
from app.recording.target import state_folder
from app.replay import replay
from app.replaying.library import Library
from app.resources import check_generated
from app.session import Session, Subject
from app.settings import Settings
from app.sim.hand import Hand
from app.sim.library import load
from app.sim.node import SimNode
from app.sim.scenario import Scenario
from app.stage.stage import Stage
from app.supervisor import Supervisor
from app.terminal import announce, plain, remark, unwritable
from app.values import SECOND
from app.web.door import Door
from app.web.faults import at_work
from app.workers import Workers

Begin = Callable[[], Awaitable[None]]
Work = Callable[[Settings, Supervisor], Awaitable[None]]

DEMO_SCENARIO = "demo"
DEMO_TITLE = "Simulated node"
DEMO_REASON = "made by plegscope for this demo"
DEMO_JOINS = "The node is simulated and nobody else listens, so nobody loses an event."
UNSERVED = ("jsonl", "none")
"""Formats without a dashboard."""
NO_STREAM = "plegscope was started with --no-stream, so it only polls."


def run(command: str, settings: Settings) -> None:
    """Run ``demo``, ``watch``, ``record`` or ``replay`` to the end that a signal or a fault brings.

    Raises:
        PlegscopeError: it could not be started, or broke; a sentence for people.
    """
    check_generated()
    work = {"demo": demo, "watch": watch, "record": record_only, "replay": replay}[command]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.get_loop().set_default_executor(Workers())
        runner.run(_until_stopped(settings, work))


async def _until_stopped(settings: Settings, work: Work) -> None:
    loop = asyncio.get_running_loop()
    supervisor = Supervisor(settings.duration_ns / SECOND)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, supervisor.stop.set)
    await work(settings, supervisor)


async def watch(settings: Settings, supervisor: Supervisor) -> None:
    """Watch the runtime of this machine."""
    endpoint = find_endpoint(settings.runtime_endpoint)
    clock = RealClock()
    deadlines = Deadlines(call=settings.call_timeout_ns / SECOND)
    async with CriClient(endpoint.address, clock, deadlines) as client:
        parts = Parts(settings, supervisor, client, clock)

        async def begin() -> None:
            first, who = None, "a runtime"
            # One that hangs is what people come to look at.
            with suppress(RuntimeSilent):
                first = await parts.probe(endpoint.address)
                who = f"{first.seen.name} {first.seen.version}"
            title = f"{who} on {socket.gethostname()}"
            parts.begin(Subject(title, False, endpoint.address, endpoint.reason), first)

        await parts.run(begin)


async def record_only(settings: Settings, supervisor: Supervisor) -> None:
    """Watch the runtime of this machine into a file, without a dashboard.

    Raises:
        SettingsError: no file was given.
    """
    if not settings.record_to:
        raise SettingsError("-o: give the file to record into, such as `-o node.mcap`.")
    await watch(msgspec.structs.replace(settings, format="none"), supervisor)


async def demo(settings: Settings, supervisor: Supervisor) -> None:
    """Make a simulated node, and watch it over gRPC like any runtime.

    Raises:
        ScenarioError: there is no scenario of that name.
        SettingsError: there is no runtime of that name.
    """
    clock = RealClock(settings.speed)
    scenario = load(settings.scenario or DEMO_SCENARIO, settings.runtime_like)
    # A unix socket's path is short, and a user's own temporary directory may not be.
    with tempfile.TemporaryDirectory(prefix="plegscope-") as folder:
        path = Path(folder) / "cri.sock"
        address = f"unix://{path}"
        ready = asyncio.Event()
        async with CriClient(address, clock) as client:
            parts = Parts(settings, supervisor, client, clock, scenario.engine, simulated=True)
            node = SimNode(
                scenario,
                clock,
                seed=settings.seed,
                tell=parts.note,
                endless=not settings.scenario,
            )
            parts.played = (scenario.name, node.seed)
            parts.stage = Stage([scenario])
            parts.plays = _link(parts.stage, scenario, settings, node.seed)
            parts.journal.subscribe(node.on_record)
            supervisor.add("simulated node", lambda: node.run(path, parts.feed, ready))

            async def begin() -> None:
                await ready.wait()
                first = await parts.probe(address)
                played = f", scenario {scenario.name}" if settings.scenario else ""
                like = f" like {settings.runtime_like}" if settings.runtime_like else ""
                title = f"{DEMO_TITLE}{like}{played}, seed {node.seed}"
                parts.begin(Subject(title, True, address, DEMO_REASON), first, node.hand)

            try:
                await parts.run(begin)
            finally:
                parts.stage.close()


def _link(stage: Stage, scenario: Scenario, settings: Settings, seed: int) -> str:
    """The query of the run of what the node plays; empty for a file that is called like a scenario
    that comes with plegscope, as a link would open that one."""
    shipped = settings.scenario in ("", scenario.name)
    if not shipped and stage.lookup(scenario.name) is not scenario:
        return ""
    pairs = [("scenario", scenario.name), ("seed", str(seed)), ("profile", settings.profile)]
    return stage.spec([*pairs, ("runtime", settings.runtime_like)]).query()


def _library(command: str, supervisor: Supervisor) -> Library | None:
    """What the flight recorder has of this command; None: there is no place where it would be."""
    try:
        folder = state_folder(os.environ)
    except RecordingError:
        # The recorder has told so.
        return None
    return Library(folder, command=command, stopped=supervisor.stop.is_set)


class Parts:
    """What every session has, wired together once it is known who answers."""

    def __init__(
        self,
        settings: Settings,
        supervisor: Supervisor,
        client: CriClient,
        clock: RealClock,
        engine: EngineSettings | None = None,
        *,
        simulated: bool = False,
    ) -> None:
        self._settings = settings
        self._simulated = simulated
        self._engine = engine or EngineSettings()
        self._supervisor = supervisor
        self._client = client
        self._clock = clock
        self._writer: JsonlWriter | None = None
        self._driver: Driver | None = None
        self._recorder: Recorder | None = None
        self.played: tuple[str, int] | None = None
        """Scenario and seed of a simulated node."""
        self.journal = Journal()
        self.stage: Stage | None = None
        """Plays runs ahead; of a simulated node only."""
        self.plays = ""
        """The query of the run of what the node plays."""

    async def probe(self, address: str) -> Probe:
        """Ask who is there.

        Raises:
            RuntimeSilent: nobody has answered yet.
            RuntimeUnusable: nobody that could be watched.
        """
        join = self._settings.join_shared_stream
        found = await probe(self._client, address, self._clock, join_shared_stream=join)
        if self._simulated:
            seen = msgspec.structs.replace(found.seen, policy="join", reason=DEMO_JOINS)
            return Probe(seen, found.shared)
        if self._settings.stream:
            return found
        seen = msgspec.structs.replace(found.seen, policy="relist_only", reason=NO_STREAM)
        return Probe(seen, found.shared)

    def feed(self, happened: Input) -> None:
        """Hand an input to the engine; before there is one, nothing happens that matters."""
        if self._driver is not None:
            self._driver.feed(happened)

    def note(self, level: Literal["info", "warning"], text: str) -> None:
        """Put a sentence on the timeline."""
        t, wall = self._clock.mono(), self._clock.wall()
        self.journal.append(Note(t=t, wall=wall, level=level, text=text))

    async def run(self, begin: Begin) -> None:
        """Run the session; ``begin`` is to call the method of this name.

        Raises:
            PlegscopeError: it broke, or the file that was asked for is not complete.
        """
        try:
            await self._supervisor.run(begin)
        finally:
            if self._writer is not None:
                self._writer.close()
            whole = self._end_recording()
        if self._settings.record_to and not whole:
            raise RecordingError(
                "The recording is not complete. Make room, or record elsewhere, and record again."
            )

    def _end_recording(self) -> bool:
        """Tell what is recorded; returns whether all that happened is."""
        recorder = self._recorder
        if recorder is None:
            return True
        if not recorder.close():
            remark(f"plegscope: {plain(recorder.missing())}\n")
        if self._settings.record_to:
            remark(recorded(self._settings.record_to, recorder.state().bytes_total))
        return not recorder.lacking

    def _told_by_recorder(self, level: Literal["info", "warning"], text: str) -> None:
        self.note(level, text)
        if self._settings.format == "none":
            # There is no page that would show it.
            remark(f"plegscope: {plain(text)}\n")

    def begin(self, subject: Subject, first: Probe | None, hand: Hand | None = None) -> None:
        """Wire everything together and start; ``first``: who answered (None: nobody yet); ``hand``:
        presses on a simulated node."""
        settings, supervisor, clock = self._settings, self._supervisor, self._clock
        believes = PROFILES[settings.profile].hints == "write"
        # Chance enters here: the jitter of the reconnect backoff.
        chance = secrets.randbits(63)
        chosen = msgspec.structs.replace(self._engine, profile=settings.profile)
        # Before the recorder begins: what cannot be served leaves no recording behind.
        door = None
        if settings.format not in UNSERVED:
            door = door_of(settings, simulated=subject.simulated)
        try:
            recorder = self._record(subject, chosen, chance)
        except RecordingError:
            if door is not None:
                door.listener.close()
            raise
        source = CriSource(
            self._client,
            clock,
            first,
            # Nobody else listens to a simulated node: its stream is never left alone.
            join_shared_stream=settings.join_shared_stream or subject.simulated,
            payload=believes,
            on_event=None if recorder is None else recorder.on_event,
        )
        engine = Engine(chosen, random.Random(chance))  # noqa: S311  (jitter is no secret)
        driver = Driver(engine, source, self.journal, clock, recorder)
        self._driver = driver
        session = Session(subject, driver, self.journal, self._client, clock)
        session.speed = clock.speed
        if recorder is not None:
            session.recorded = recorder.state
            self._client.on_answer = recorder.on_answer
        if hand is not None:
            session.faults = partial(at_work, hand)
        supervisor.tell = session.warn
        supervisor.at_end(driver.stop)
        supervisor.add("runtime client", lambda: source.run(driver.feed))
        supervisor.add("watchman", session.tick)
        supervisor.add("prober", lambda: session.reprobe(lambda: self._probe_again(session)))
        source.install_stop_signal(asyncio.get_running_loop())
        if settings.format == "jsonl":
            self._write_lines(session, first)
        elif settings.format == "none":
            remark(self._greeting(first, session.subject))
        elif door is not None:
            self._serve(session, first, hand, door)
        driver.start(None if first is None else first.seen)

    def _record(self, subject: Subject, engine: EngineSettings, chance: int) -> Recorder | None:
        """Start the recorder, if there is to be one; it has all that the journal has so far."""
        settings, clock = self._settings, self._clock
        command = "demo" if self._simulated else "watch"
        info = live.describe(
            "record" if settings.format == "none" else command,
            title=subject.title,
            endpoint=subject.endpoint,
            endpoint_reason=subject.endpoint_reason,
            engine=engine,
            chance=chance,
            origin=clock.wall() - clock.mono(),
            played=self.played,
        )
        recorder = live.start(settings, info, self.note)
        if recorder is not None:
            self._recorder = recorder
            for record in self.journal.since(0):
                recorder.on_record(record)
            self.journal.subscribe(recorder.on_record)
            self._supervisor.add("recorder", lambda: live.pass_on(recorder, self._told_by_recorder))
        return recorder

    def _write_lines(self, session: Session, first: Probe | None) -> None:
        loop = asyncio.get_running_loop()
        supervisor = self._supervisor

        def closed(reason: str) -> None:
            end = partial(supervisor.fail, unwritable(reason)) if reason else supervisor.stop.set
            _call_if_running(loop, end)

        self._writer = JsonlWriter(sys.stdout.buffer, closed)
        self.journal.subscribe(self._writer.on_record)
        remark(self._greeting(first, session.subject))

    def _serve(self, session: Session, first: Probe | None, hand: Hand | None, door: Door) -> None:
        supervisor = self._supervisor
        library = _library("demo" if self._simulated else "watch", supervisor)
        dashboard = Dashboard(
            self._settings,
            session,
            self.journal,
            desk=hand,
            stage=self.stage,
            plays=self.plays,
            library=library,
            door=door,
        )
        if library is not None:
            supervisor.add("recordings", library.run)
            supervisor.add("what-if", dashboard.run_whatif)
        supervisor.add("hub", dashboard.run_hub)
        supervisor.add("web server", lambda: dashboard.run_server(supervisor.stop))
        announce(self._greeting(first, session.subject, dashboard.addresses))
        dashboard.open_browser()

    def _greeting(
        self, first: Probe | None, subject: Subject, addresses: Sequence[str] = ()
    ) -> str:
        where = recorded_where(self._settings, well=self._recorder is not None)
        return greeting(subject, None if first is None else first.seen, where, addresses)

    async def _probe_again(self, session: Session) -> RuntimeProbed | None:
        runtime = session.runtime
        try:
            seen = (await self.probe(session.subject.endpoint)).seen
        except RuntimeUnusable:
            # It went away again; the next relist that succeeds asks again.
            return None
        same = runtime is not None and (seen.name, seen.version) == (runtime.name, runtime.version)
        return None if same else seen


def _call_if_running(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(call)
    except RuntimeError:
        # The loop is closed: the session has ended already.
        return

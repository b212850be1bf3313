"""The boundary on real containerd: who is it, what does it list, what does its stream bring.

Below the engine: the client, the probe, the calls and the stream keeper, one at a time.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from app.clock import RealClock
from app.cri.calls import inspect_pod, list_pods
from app.cri.client import CriClient, Deadlines
from app.cri.convert import Interner
from app.cri.endpoints import find_endpoint
from app.cri.probe import Probe, probe
from app.cri.source import CriSource
from app.cri.stream import StreamKeeper, StreamTiming
from app.engine.effects import InspectPod, ListPods, OpenStream
from app.engine.inputs import (
    PodInspected,
    PodsListed,
    PodsListFailed,
    StreamEnded,
    StreamEvent,
    StreamLive,
    StreamRenewed,
)
from app.errors import RuntimeUnusable
from tests.cri.fakes import Inputs
from tests.lab.containerd import Containerd
from tests.lab.pods import Pods, StartFailed
from tests.lab.proc import Process

GRACE = StreamTiming(deadline=60.0, grace=0.05)


@pytest.fixture
def clock() -> RealClock:
    return RealClock()


@asynccontextmanager
async def streaming(
    client: CriClient, clock: RealClock, timing: StreamTiming = GRACE
) -> AsyncIterator[Inputs]:
    """A kept stream that is live; what it feeds."""
    inputs = Inputs()
    async with asyncio.timeout(200), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(StreamKeeper(client, clock, timing).run(inputs))
        await inputs.next(StreamLive)
        yield inputs
        task.cancel()


async def listed(client: CriClient, clock: RealClock, rows: Interner) -> PodsListed:
    answer = await list_pods(client, rows, clock, ListPods(call=1))
    assert isinstance(answer, PodsListed)
    return answer


async def state_of(client: CriClient, clock: RealClock, rows: Interner, container_id: str) -> str:
    """The state that a container is listed in; "" while the list cannot be had."""
    answer = await list_pods(client, rows, clock, ListPods(call=2))
    if not isinstance(answer, PodsListed):
        return ""
    return {row.id: row.runtime_state for row in answer.containers}[container_id]


async def stop_of(inputs: Inputs, container_id: str) -> StreamEvent:
    """The stop event of a container, once it is there."""
    while True:
        event = await inputs.next(StreamEvent)
        if (event.event.container_id, event.event.type) == (container_id, "stopped"):
            return event


async def handle(pods: Pods, container_id: str) -> Process:
    """A container's main process, to be signalled while the runtime cannot be asked."""
    return Process(await asyncio.to_thread(pods.main_pid, container_id))


# Who is it


async def test_the_probe_knows_each_version(each_containerd: Containerd, clock: RealClock) -> None:
    found = find_endpoint(each_containerd.endpoint)
    async with CriClient(found.address, clock) as client:
        who = await probe(client, found.address, clock)
        asked = await probe(client, found.address, clock, join_shared_stream=True)
        assert "GetContainerEvents" not in client.counts
    assert who.seen.name == "containerd"
    assert who.seen.version.startswith(each_containerd.version)
    broadcasts = each_containerd.version == "2"
    assert who.seen.policy == ("join" if broadcasts else "relist_only")
    assert who.shared is not broadcasts
    assert asked.seen.policy == "join"


async def test_a_frozen_runtime_is_unusable(each_containerd: Containerd, clock: RealClock) -> None:
    each_containerd.freeze()
    async with CriClient(each_containerd.endpoint, clock, Deadlines(version=0.3)) as client:
        with pytest.raises(RuntimeUnusable, match=r"did not answer within 0\.3 s"):
            await probe(client, each_containerd.endpoint, clock)


async def test_a_stopped_runtime_is_unusable(each_containerd: Containerd, clock: RealClock) -> None:
    await asyncio.to_thread(each_containerd.kill)
    async with CriClient(each_containerd.endpoint, clock) as client:
        with pytest.raises(RuntimeUnusable, match="No runtime listens"):
            await probe(client, each_containerd.endpoint, clock)


# What does it list


async def test_lists_and_inspects_what_is_there(
    each_containerd: Containerd, each_pods: Pods, clock: RealClock
) -> None:
    both = await asyncio.to_thread(each_pods.run, "both", containers=2)
    job = await asyncio.to_thread(each_pods.run, "job", ("sh", "-c", "exit 3"))
    await asyncio.to_thread(each_pods.wait_exited, job.container_ids)
    with pytest.raises(StartFailed):
        await asyncio.to_thread(each_pods.run, "bad", ("/no/such/program",))
    truth = await asyncio.to_thread(each_pods.listing, everything=True)
    rows = Interner()
    async with CriClient(each_containerd.endpoint, clock) as client:
        full = await listed(client, clock, rows)
        assert {row.id: f"CONTAINER_{row.runtime_state.upper()}" for row in full.containers} == (
            truth.containers
        )
        assert {row.id: f"SANDBOX_{row.runtime_state.upper()}" for row in full.sandboxes} == (
            truth.sandboxes
        )
        assert rows.skipped == 0

        # An unchanged row is the same object, whatever order the runtime lists in.
        again = await listed(client, clock, rows)
        assert {id(row) for row in again.containers} == {id(row) for row in full.containers}
        assert {id(row) for row in again.sandboxes} == {id(row) for row in full.sandboxes}

        one = await list_pods(client, rows, clock, ListPods(call=2, uid=both.uid))
        assert isinstance(one, PodsListed)
        assert {row.id for row in one.containers} == set(both.container_ids)
        assert [row.id for row in one.sandboxes] == [both.sandbox_id]
        assert {row.name for row in one.containers} == {"c0", "c1"}

        wanted = InspectPod(
            call=3,
            uid=job.uid,
            sandbox_ids=(job.sandbox_id, "0" * 64),
            container_ids=(*job.container_ids, "f" * 64),
        )
        status = await inspect_pod(client, clock, wanted)
    # The two that do not exist are left out.
    assert isinstance(status, PodInspected)
    assert [found.id for found in status.sandboxes] == [job.sandbox_id]
    (ended,) = status.containers
    assert (ended.exit_code, ended.reason) == (3, "Error")
    # Of a container that ends at once, finished_at may lie before started_at.
    assert ended.created_at <= min(ended.started_at, ended.finished_at)


async def test_a_frozen_runtime_is_shown_by_its_oldest_call(
    each_containerd: Containerd, clock: RealClock
) -> None:
    rows = Interner()
    async with (
        CriClient(each_containerd.endpoint, clock) as client,
        asyncio.TaskGroup() as tasks,
    ):
        await listed(client, clock, rows)
        each_containerd.freeze()
        begun = clock.mono()
        waiting = tasks.create_task(list_pods(client, rows, clock, ListPods(call=2)))
        # It asks at its first turn, before the probe below.
        await asyncio.sleep(0)
        assert client.oldest_call() is not None
        # The client's own call ends by its deadline, the list goes on waiting.
        with pytest.raises(RuntimeUnusable):
            await probe_within(client, clock, 0.2)
        oldest = client.oldest_call()
        assert oldest is not None
        method, since = oldest
        assert method == "ListPodSandbox"
        assert begun <= since <= clock.mono() - 200_000_000
        assert not waiting.done()
        each_containerd.thaw()
        assert isinstance(await waiting, PodsListed)
        assert client.oldest_call() is None


async def probe_within(client: CriClient, clock: RealClock, version_s: float) -> Probe:
    client.deadlines = Deadlines(version=version_s)
    return await probe(client, "e", clock)


# What does its stream bring


async def test_containerd_16_has_no_stream(containerd16: Containerd, clock: RealClock) -> None:
    inputs = Inputs()
    async with CriClient(containerd16.endpoint, clock) as client:
        await StreamKeeper(client, clock).run(inputs)
    assert inputs.kinds() == ["StreamOpened", "StreamEnded"]
    assert inputs.of(StreamEnded)[0].code == "unimplemented"


async def test_a_life_on_the_stream(containerd2: Containerd, pods2: Pods, clock: RealClock) -> None:
    containerd2.restart()
    async with (
        CriClient(containerd2.endpoint, clock) as client,
        streaming(client, clock) as inputs,
    ):
        pod = await asyncio.to_thread(pods2.run, "victim")
        await asyncio.to_thread(pods2.kill, pod)
        stop = await stop_of(inputs, pod.container_ids[0])
        await asyncio.to_thread(pods2.remove, pod)
        while not any(
            (one.event.container_id, one.event.type) == (pod.sandbox_id, "deleted")
            for one in inputs.of(StreamEvent)
        ):
            await inputs.next(StreamEvent)
    assert (stop.event.pod_uid, stop.event.pod_name) == (pod.uid, pod.name)
    assert (stop.event.exit_code, stop.event.reason) == (137, "Error")
    assert stop.event.container_name == "c0"
    story = [
        (one.event.container_id == pod.sandbox_id, one.event.type) for one in inputs.of(StreamEvent)
    ]
    life = ["created", "started", "stopped", "deleted"]
    assert [kind for is_sandbox, kind in story if is_sandbox] == life
    assert [kind for is_sandbox, kind in story if not is_sandbox] == life


async def test_renewals_lose_nothing_and_double_nothing(
    containerd2: Containerd, pods2: Pods, clock: RealClock
) -> None:
    containerd2.restart()
    # Renewed each second, with an overlap of half of one: the next must be there by then.
    timing = StreamTiming(deadline=20.0, renew_before=19.0, grace=0.5)
    async with (
        CriClient(containerd2.endpoint, clock) as client,
        streaming(client, clock, timing) as inputs,
    ):
        pod = await asyncio.to_thread(pods2.run, "many", containers=20)
        for container_id in pod.container_ids:
            await asyncio.to_thread(pods2.kill, container_id)
        await asyncio.to_thread(pods2.wait_exited, pod.container_ids)
        stops: set[str] = set()
        while len(stops) < 20:
            event = (await inputs.next(StreamEvent)).event
            if event.type == "stopped":
                stops.add(event.container_id)
        await inputs.next(StreamRenewed)
    seen = [(one.event.container_id, one.event.type) for one in inputs.of(StreamEvent)]
    assert len(seen) == len(set(seen)) == 2 + 20 * 3
    renewals = inputs.of(StreamRenewed)
    assert len(renewals) >= 2
    assert sum(one.duplicates for one in renewals) > 0
    assert not inputs.of(StreamEnded)


async def test_the_runtime_keeps_the_deadline_by_itself(
    containerd2: Containerd, clock: RealClock
) -> None:
    inputs = Inputs()
    # Too short to be renewed: what happens when a process is too late.
    timing = StreamTiming(deadline=0.3, renew_before=-1.0, grace=0.05)
    async with CriClient(containerd2.endpoint, clock) as client, asyncio.timeout(60):
        await StreamKeeper(client, clock, timing).run(inputs)
    (end,) = inputs.of(StreamEnded)
    assert end.code == "deadline"
    assert not inputs.of(StreamRenewed)


async def test_a_frozen_runtime_is_silent_and_tells_afterwards(
    containerd2: Containerd, pods2: Pods, clock: RealClock
) -> None:
    pod = await asyncio.to_thread(pods2.run, "victim")
    async with (
        CriClient(containerd2.endpoint, clock) as client,
        streaming(client, clock) as inputs,
    ):
        victim = await handle(pods2, pod.container_ids[0])
        containerd2.freeze()
        victim.signal(signal.SIGKILL)
        with pytest.raises(RuntimeUnusable):
            await probe_within(client, clock, 0.3)
        assert not inputs.of(StreamEnded)
        containerd2.thaw()
        await stop_of(inputs, pod.container_ids[0])


async def test_a_restart_ends_the_stream_and_the_next_list_finds_what_it_missed(
    containerd2: Containerd, pods2: Pods, clock: RealClock
) -> None:
    pod = await asyncio.to_thread(pods2.run, "dies")
    rows = Interner()
    async with CriClient(containerd2.endpoint, clock) as client:
        async with streaming(client, clock) as inputs:
            await listed(client, clock, rows)
            victim = await handle(pods2, pod.container_ids[0])
            await asyncio.to_thread(containerd2.stop)
            end = await inputs.next(StreamEnded)
            assert end.code == "unavailable"
        failed = await list_pods(client, rows, clock, ListPods(call=1))
        assert isinstance(failed, PodsListFailed)
        assert "did not reach the runtime" in failed.error
        victim.signal(signal.SIGKILL)
        assert await asyncio.to_thread(victim.ended, 60.0)
        await asyncio.to_thread(containerd2.start)
        async with asyncio.timeout(60):
            # It may not yet answer, and its shim may not yet have seen the end.
            state = ""
            while state != "exited":
                state = await state_of(client, clock, rows, pod.container_ids[0])


async def test_a_shared_stream_is_subscribed_to_once(
    containerd17: Containerd, pods17: Pods, clock: RealClock
) -> None:
    containerd17.restart()
    async with CriClient(containerd17.endpoint, clock) as client:
        first = await probe(client, containerd17.endpoint, clock, join_shared_stream=True)
        assert first.shared
        source = CriSource(client, clock, first, join_shared_stream=True)
        inputs = Inputs()
        async with asyncio.timeout(200), asyncio.TaskGroup() as tasks:
            task = tasks.create_task(source.run(inputs))
            source.perform(OpenStream())
            await inputs.next(StreamLive)
            pod = await asyncio.to_thread(pods17.run, "many", containers=10)
            for container_id in pod.container_ids:
                await asyncio.to_thread(pods17.kill, container_id)
                await stop_of(inputs, container_id)
            task.cancel()
        assert client.counts["GetContainerEvents"].calls == 1
    seen = [(one.event.container_id, one.event.type) for one in inputs.of(StreamEvent)]
    assert len(seen) == len(set(seen)) == 2 + 10 * 3


def test_a_subscription_that_ended_takes_an_event_from_the_others(
    containerd17: Containerd, pods17: Pods
) -> None:
    """Why a shared stream is never renewed, and why leaving 1.7 alone is the default."""
    containerd17.restart()
    for _ in range(5):
        with pods17.events(timeout_s=120.0):
            # Behind the subscription on the same connection: the runtime has it when this answers.
            pods17.listing()
    with pods17.events(timeout_s=120.0) as stream:
        pods17.listing()
        pod = pods17.run("many", containers=5)
        pods17.kill(pod)
        pods17.wait_exited(pod.container_ids)
        pods17.remove(pod)
        came = 0
        for event in stream:
            came += 1
            if event.container_id == pod.sandbox_id and event.container_event_type == 3:
                break
    happened = 4 + 5 * 4
    assert came == happened - 5

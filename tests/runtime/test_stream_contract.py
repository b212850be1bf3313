"""What real runtimes promise of their event stream: rows O of the checklist, on containerd."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.lab.containerd import Containerd
from tests.lab.cri import EventStream, enum_names
from tests.lab.pods import Pods

DEADLINE_S = 120.0

#: A pod with one container: made, killed and removed.
LIFE = 8


def told(events: Iterable[Any]) -> list[tuple[str, str]]:
    """Container id and type of each."""
    names = enum_names("ContainerEventType")
    return [(event.container_id, names[event.container_event_type]) for event in events]


def carried(event: Any) -> dict[str, str]:
    """The states an event carries: by container id."""
    names = enum_names("ContainerState")
    return {one.id: names[one.state] for one in event.containers_statuses}


def sandbox(event: Any) -> str:
    """The state of the sandbox that an event carries."""
    return enum_names("PodSandboxState")[event.pod_sandbox_status.state]


def live_and_die(pods: Pods) -> None:
    pod = pods.run("life")
    pods.kill(pod)
    pods.wait_exited(pod.container_ids)
    pods.remove(pod)


class Ear:
    """Reads a stream in a thread until it is told enough."""

    def __init__(self, stream: EventStream, heard: threading.Condition) -> None:
        self._stream = stream
        self._heard = heard
        self.events: list[Any] = []

    def listen(self) -> None:
        for event in self._stream:
            with self._heard:
                self.events.append(event)
                self._heard.notify_all()


def test_o1_two_subscribers_hear_the_same(containerd2: Containerd, pods2: Pods) -> None:
    containerd2.restart()
    with pods2.events(DEADLINE_S) as one, pods2.events(DEADLINE_S) as two:
        pods2.listing()
        live_and_die(pods2)
        first = told(itertools.islice(one, LIFE))
        second = told(itertools.islice(two, LIFE))
    assert first == second
    assert len(set(first)) == LIFE


def test_o2_to_o8_each_step_of_a_pods_life(containerd2: Containerd, pods2: Pods) -> None:
    containerd2.restart()
    with pods2.events(DEADLINE_S) as stream:
        pods2.listing()
        events = iter(stream)
        pod = pods2.create("life")
        (box,), (app,) = [pod.sandbox_id], pod.container_ids

        run = list(itertools.islice(events, 2))
        assert told(run) == [(box, "CONTAINER_CREATED_EVENT"), (box, "CONTAINER_STARTED_EVENT")]
        assert [(sandbox(event), carried(event)) for event in run] == [("SANDBOX_READY", {})] * 2

        created = next(events)
        assert told([created]) == [(app, "CONTAINER_CREATED_EVENT")]
        assert carried(created) == {app: "CONTAINER_CREATED"}

        pods2.start(app)
        started = next(events)
        assert told([started]) == [(app, "CONTAINER_STARTED_EVENT")]
        assert carried(started) == {app: "CONTAINER_RUNNING"}

        pods2.stop(pod)
        stopped = next(events)
        assert told([stopped]) == [(app, "CONTAINER_STOPPED_EVENT")]
        assert carried(stopped) == {app: "CONTAINER_EXITED"}

        pods2.remove_container(app)
        removed = next(events)
        assert told([removed]) == [(app, "CONTAINER_DELETED_EVENT")]
        assert carried(removed) == {}

        pods2.stop_pod(pod)
        ended = next(events)
        assert told([ended]) == [(box, "CONTAINER_STOPPED_EVENT")]
        assert sandbox(ended) == "SANDBOX_NOTREADY"

        pods2.remove(pod)
        assert told([next(events)]) == [(box, "CONTAINER_DELETED_EVENT")]


def test_o10_what_happened_to_nobodys_ears_comes_first(
    containerd2: Containerd, pods2: Pods
) -> None:
    containerd2.restart()
    live_and_die(pods2)
    later = time.time_ns()
    with pods2.events(DEADLINE_S) as stream:
        backlog = list(itertools.islice(stream, LIFE))
    assert len(set(told(backlog))) == LIFE
    assert all(event.created_at < later for event in backlog)


def test_o11_on_1_7_each_event_goes_to_one_of_two(containerd17: Containerd, pods17: Pods) -> None:
    containerd17.restart()
    heard = threading.Condition()
    with (
        pods17.events(DEADLINE_S) as one,
        pods17.events(DEADLINE_S) as two,
        ThreadPoolExecutor(2) as pool,
    ):
        pods17.listing()
        ears = [Ear(one, heard), Ear(two, heard)]
        listening = [pool.submit(ear.listen) for ear in ears]
        live_and_die(pods17)
        with heard:
            all_there = heard.wait_for(
                lambda: sum(len(ear.events) for ear in ears) >= LIFE, timeout=DEADLINE_S
            )
        one.cancel()
        two.cancel()
        for ear in listening:
            ear.result(DEADLINE_S)
    assert all_there
    first, second = (set(told(ear.events)) for ear in ears)
    assert len(first | second) == LIFE
    assert not first & second
    assert first
    assert second

"""However a container ends on a real containerd, ``watch`` finds it, and then agrees with the list.

On 2.x a stop event asks for the relist that finds it; 1.7's shared stream is left alone and 1.6
has none, so there the poll finds it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from tests.lab.containerd import Containerd
from tests.lab.kubelet import HEEDS_TERM, OUT_OF_MEMORY, Pod
from tests.lab.pods import Pods, StartFailed
from tests.watching import Line, Watching, watching

End = tuple[int, str]


def _exit(code: int) -> Callable[[Pods], Pod]:
    return lambda pods: pods.run("job", ["sh", "-c", f"sleep 1; exit {code}"])


def _oom(pods: Pods) -> Pod:
    return pods.run("fat", OUT_OF_MEMORY, memory_mib=32)


def _killed(pods: Pods) -> Pod:
    pod = pods.run("victim")
    pods.kill(pod)
    return pod


def _stopped(pods: Pods) -> Pod:
    pod = pods.run("polite", HEEDS_TERM)
    pods.wait_for_handler(pod.container_ids[0])
    pods.stop(pod, grace_s=60)
    return pod


WAYS: dict[str, tuple[Callable[[Pods], Pod], End]] = {
    "exit 0": (_exit(0), (0, "Completed")),
    "exit 1": (_exit(1), (1, "Error")),
    "out of memory": (_oom, (137, "OOMKilled")),
    "kill -9": (_killed, (137, "Error")),
    "StopContainer": (_stopped, (0, "Completed")),
}


@pytest.fixture(scope="module", params=["containerd16", "containerd17", "containerd2"])
def node(request: pytest.FixtureRequest) -> Iterator[tuple[Containerd, Watching]]:
    """One runtime and one ``watch`` on it, for all tests of this file."""
    containerd: Containerd = request.getfixturevalue(request.param)
    containerd.recover()
    with watching(containerd.endpoint) as watch:
        yield containerd, watch


@pytest.fixture
def pods(node: tuple[Containerd, Watching]) -> Iterator[Pods]:
    """Pods of one test, removed at its end."""
    with Pods(node[0].endpoint) as made:
        yield made


def found_by(containerd: Containerd) -> str:
    """The relist source that notices a stop on this version by default."""
    return "evented_pleg" if containerd.version.startswith("2") else "global"


def end_one(watch: Watching, pods: Pods, *, pause: bool = False) -> Callable[[int], str]:
    """Kills the container of a new pod (``pause``: its sandbox), just after a poll; its id."""

    def end(number: int) -> str:
        pod = pods.run(f"web-{number}")
        watch.wait_kind("lifecycle", type="ContainerStarted", container_id=pod.container_ids[0])
        watch.wait_polled()
        assert (pods.kill_pause(pod) if pause else pods.kill(pod)) == 1
        return pod.sandbox_id if pause else pod.container_ids[0]

    return end


@pytest.mark.parametrize("way", WAYS)
def test_an_end_is_found_with_its_exit_code(
    way: str, node: tuple[Containerd, Watching], pods: Pods
) -> None:
    _, watch = node
    make, end = WAYS[way]
    after = watch.mark()
    pod = make(pods)
    died = watch.wait_died(pod.container_ids[0], after=after)
    assert (died["exit_code"], died["reason"]) == end
    assert died["uid"] == pod.uid
    assert died["since_finished_ns"] > 0
    watch.wait_agrees(lambda: pods.listing(everything=True).containers)


def test_a_stop_is_told_asked_and_found_in_one_chain(
    node: tuple[Containerd, Watching], pods: Pods
) -> None:
    containerd, watch = node
    died = watch.died_by(found_by(containerd), end_one(watch, pods))
    chain = watch.chain(died)
    if died["source"] == "global":
        assert "stream_event" not in chain
        assert chain["relist_started"]["scope"] == "global"
        return
    assert [
        chain[kind]["seq"] for kind in ("stream_event", "request", "relist_started", "lifecycle")
    ] == sorted(
        chain[kind]["seq"] for kind in ("stream_event", "request", "relist_started", "lifecycle")
    )
    event, request = chain["stream_event"], chain["request"]
    assert (event["type"], event["container_id"]) == ("stopped", died["container_id"])
    assert (request["source"], request["event"]) == ("evented_pleg", event["event"])
    assert died["t"] - event["t"] == died["after_ns"] > 0


def test_a_removed_pod_is_gone(node: tuple[Containerd, Watching], pods: Pods) -> None:
    _, watch = node
    pod = pods.run("web")
    watch.wait_kind("lifecycle", type="ContainerStarted", container_id=pod.container_ids[0])
    after = watch.mark()
    pods.remove(pod)
    watch.wait_kind(
        "lifecycle", after=after, type="ContainerRemoved", container_id=pod.container_ids[0]
    )
    watch.wait_kind("pod_gone", after=after, uid=pod.uid)
    watch.wait_agrees(lambda: pods.listing(everything=True).containers)


def test_a_start_that_fails_has_no_event_and_is_found_by_the_poll(
    node: tuple[Containerd, Watching], pods: Pods
) -> None:
    _, watch = node
    with pytest.raises(StartFailed) as refused:
        pods.run("bad", ["/no/such/program"])
    container = refused.value.pod.container_ids[0]
    died = watch.wait_died(container)
    assert (died["source"], died["exit_code"]) == ("global", 128)
    assert not [
        line
        for line in watch.snapshot()
        if line["kind"] == "stream_event"
        and line["type"] == "stopped"
        and line["container_id"] == container
    ]
    watch.wait_agrees(lambda: pods.listing(everything=True).containers)


def test_a_killed_pause_process_is_a_dead_sandbox(
    node: tuple[Containerd, Watching], pods: Pods
) -> None:
    containerd, watch = node
    died = watch.died_by(found_by(containerd), end_one(watch, pods, pause=True))
    assert died["is_sandbox"]


def test_what_the_stream_is_doing_is_said(node: tuple[Containerd, Watching], pods: Pods) -> None:
    containerd, watch = node
    runtime = watch.wait_kind("runtime")
    stream: list[Line] = [line for line in watch.snapshot() if line["kind"] == "stream"]
    if containerd.version.startswith("2"):
        assert runtime["policy"] == "join"
        assert watch.wait_kind("stream", state="connected")
        return
    assert runtime["policy"] == "relist_only"
    assert "--join-shared-stream" in runtime["reason"]
    assert [line["state"] for line in stream] == ["off"]
    assert stream[0]["meaning"] == runtime["reason"]


def test_1_6_joined_on_request_answers_unimplemented_and_polling_goes_on(
    containerd16: Containerd,
) -> None:
    with (
        watching(containerd16.endpoint, "--join-shared-stream") as watch,
        Pods(containerd16.endpoint) as pods,
    ):
        waiting = watch.wait_kind("stream", state="waiting")
        assert waiting["code"] == "unimplemented"
        assert waiting["retry_t"] - waiting["t"] == 60_000_000_000
        pod = pods.run("web")
        pods.kill(pod)
        assert watch.wait_died(pod.container_ids[0])["source"] == "global"


def test_1_7_joined_on_request_finds_a_stop_by_its_event(containerd17: Containerd) -> None:
    with contextlib.ExitStack() as stack:
        watch = stack.enter_context(watching(containerd17.endpoint, "--join-shared-stream"))
        pods = stack.enter_context(Pods(containerd17.endpoint))
        watch.wait_kind("stream", state="connected")
        assert watch.died_by("evented_pleg", end_one(watch, pods))["event"] is not None

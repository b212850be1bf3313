"""A real containerd in trouble: storms, restarts, freezes. ``watch`` says so and converges."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.lab import proc
from tests.lab.containerd import Containerd
from tests.lab.pods import Pods
from tests.watching import Line, Watching, watching

STORM = 100


@pytest.fixture(params=["containerd16", "containerd17", "containerd2"])
def containerd(request: pytest.FixtureRequest) -> Iterator[Containerd]:
    """Each version, brought back afterwards."""
    chosen: Containerd = request.getfixturevalue(request.param)
    chosen.recover()
    yield chosen
    chosen.recover()


def deaths(watch: Watching, after: int = 0) -> list[Line]:
    """The containers found dead."""
    return [
        line
        for line in watch.snapshot()[after:]
        if line["kind"] == "lifecycle"
        and line["type"] == "ContainerDied"
        and not line["is_sandbox"]
    ]


@pytest.mark.timeout(240)
def test_a_hundred_containers_killed_at_once_are_each_found_once(containerd: Containerd) -> None:
    with watching(containerd.endpoint) as watch, Pods(containerd.endpoint) as pods:
        made = pods.run_many(STORM, "storm")
        wanted = {pod.container_ids[0] for pod in made}
        watch.wait_agrees(lambda: pods.listing(everything=True).containers)
        after = watch.mark()
        pods.kill_together(made)
        for container in wanted:
            watch.wait_died(container, after=after)
        watch.wait_agrees(lambda: pods.listing(everything=True).containers)
        found = [line["container_id"] for line in deaths(watch, after)]
        assert sorted(found) == sorted(wanted)
        requests = [line for line in watch.snapshot()[after:] if line["kind"] == "request"]
        assert all(line["outcome"] in ("queued", "dropped") for line in requests)
        assert_polls_on_time(watch)


def assert_polls_on_time(watch: Watching) -> None:
    """Targeted work never keeps a due global relist waiting for more than the one in progress."""
    lines = watch.snapshot()
    pauses = [1_000_000_000, *(line["period_ns"] for line in lines if line["kind"] == "pace")]
    finished = [line for line in lines if line["kind"] == "relist_finished"]
    longest = max((line["duration_ns"] for line in finished if line["scope"] == "pod"), default=0)
    ends = [line["t"] for line in finished if line["scope"] == "global"]
    starts = [
        line["t"]
        for line in lines
        if line["kind"] == "relist_started" and line["scope"] == "global"
    ]
    assert len(starts) >= 2
    for end, start in zip(ends, starts[1:], strict=False):
        # 100 ms more: this machine's scheduler, with a hundred processes ending at once.
        assert start - end <= max(pauses) + longest + 100_000_000


@pytest.mark.timeout(120)
def test_a_death_while_the_runtime_is_down_is_found_after_its_restart(
    containerd: Containerd,
) -> None:
    with watching(containerd.endpoint) as watch, Pods(containerd.endpoint) as pods:
        dies, lives = pods.run("dies"), pods.run("lives")
        watch.wait_agrees(lambda: pods.listing(everything=True).containers)
        victim = proc.Process(pods.main_pid(dies.container_ids[0]))
        after = watch.mark()
        containerd.stop()
        watch.wait_kind("relist_finished", after=after, scope="global", ok=False)
        victim.signal(signal.SIGKILL)
        containerd.start()
        died = watch.wait_died(dies.container_ids[0], after=after)
        assert died["source"] == "global"
        assert died["event"] is None
        if containerd.version.startswith("2"):
            watch.wait_kind("stream", after=after, state="waiting", code="unavailable")
            watch.wait_kind("stream", after=after, state="connected")
            pods.kill(lives)
            later = watch.wait_died(lives.container_ids[0], after=after)
            assert later["source"] == "evented_pleg"
        watch.wait_agrees(lambda: pods.listing(everything=True).containers)


@pytest.mark.timeout(120)
def test_a_frozen_runtime_is_shown_as_hung_and_found_right_after_the_thaw(
    containerd: Containerd,
) -> None:
    with watching(containerd.endpoint) as watch, Pods(containerd.endpoint) as pods:
        pod = pods.run("web")
        watch.wait_agrees(lambda: pods.listing(everything=True).containers)
        victim = proc.Process(pods.main_pid(pod.container_ids[0]))
        after = watch.mark()
        containerd.freeze()
        try:
            hung = watch.wait_kind("runtime_hung", after=after, hung=True)
            assert hung["age_ns"] >= 5_000_000_000
            victim.signal(signal.SIGKILL)
        finally:
            containerd.thaw()
        again = watch.wait_kind("runtime_hung", after=after, hung=False)
        assert again["age_ns"] >= hung["age_ns"]
        watch.wait_died(pod.container_ids[0], after=after)
        watch.wait_agrees(lambda: pods.listing(everything=True).containers)

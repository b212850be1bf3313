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


@pytest.mark.timeout(600)
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


PERIOD_NS = 1_000_000_000


def assert_polls_on_time(watch: Watching) -> None:
    """No targeted relist begins once a global one is due: it waits for the one in progress only."""
    pause, due, polls = PERIOD_NS, None, 0
    for line in watch.snapshot():
        match line["kind"], line.get("scope"):
            case "pace", _:
                pause = line["period_ns"]
            case "relist_finished", "global":
                # A longer pause than the period grows and shrinks in steps that are not all told.
                due = line["t"] + pause if pause == PERIOD_NS else None
            case "relist_started", "global":
                due, polls = None, polls + 1
            case "relist_started", "pod":
                assert due is None or line["t"] < due
    assert polls >= 2


@pytest.mark.timeout(600)
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

            def end_one(number: int) -> str:
                """The one that lives, or another."""
                pod = lives if number == 0 else pods.run(f"another-{number}")
                watch.wait_agrees(lambda: pods.listing(everything=True).containers)
                watch.wait_polled()
                pods.kill(pod)
                return pod.container_ids[0]

            watch.died_by("evented_pleg", end_one)
        watch.wait_agrees(lambda: pods.listing(everything=True).containers)


@pytest.mark.timeout(600)
def test_a_runtime_that_is_frozen_before_is_watched_and_joined_once_it_answers(
    containerd: Containerd,
) -> None:
    """Whoever starts plegscope may do so because the runtime hangs."""
    containerd.freeze()
    try:
        watch = Watching(containerd.endpoint)
        try:
            watch.wait_kind("relist_finished", ok=False, code="silent")
            assert "runtime" not in {line["kind"] for line in watch.snapshot()}
            containerd.thaw()
            watch.wait_ready()
            who = watch.wait_kind("runtime", name="containerd")
            if who["policy"] == "join":
                watch.wait_kind("stream", state="connected")
        finally:
            assert watch.end() == 0
    finally:
        containerd.thaw()


@pytest.mark.timeout(600)
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

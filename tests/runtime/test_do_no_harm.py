"""Whatever becomes of ``watch``, the node's own work goes on.

While another client makes, kills and removes 200 pods, ``watch`` is stopped, starved, not read
from, or out of disk. On containerd 2.x a subscriber that takes nothing holds up the runtime, and
the deadline of its stream is what frees it: no call may wait longer than that. On 1.7, where each
event goes to one subscriber only, another one must get all of them.
"""

from __future__ import annotations

import contextlib
import secrets
import signal
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cri.stream import StreamTiming
from tests.churning import Churn, Subscriber
from tests.lab.containerd import Containerd
from tests.lab.errors import LabUnavailable
from tests.lab.pods import Pods, wait_for
from tests.watching import Watching
from tests.watching_page import WatchingPage

PODS = 200

DEADLINE_S = StreamTiming().deadline or 0.0

SLACK_S = 15.0
"""What a call may take by itself on a machine that is busy with 25 pods at once; three times what
it takes without us where that is more."""

pytestmark = pytest.mark.timeout(900)

Watch = Watching | WatchingPage


@pytest.fixture
def node(containerd2: Containerd) -> Iterator[Containerd]:
    """containerd 2.x without what earlier tests left in its queues."""
    containerd2.recover()
    containerd2.restart()
    yield containerd2
    containerd2.recover()


@contextlib.contextmanager
def in_both_modes(
    endpoint: str, *, read: bool = True, **options: Any
) -> Iterator[tuple[Watching, WatchingPage]]:
    """Records as lines and the dashboard, side by side, both ready; both must end well."""
    with contextlib.ExitStack() as stack:
        lines = Watching(endpoint, read=read, **options)
        stack.callback(end_well, lines)
        page = WatchingPage(endpoint, **options)
        stack.callback(end_well, page)
        page.wait_ready()
        if read:
            lines.wait_ready()
        yield lines, page


def end_well(watch: Watch) -> None:
    code = watch.end()
    assert code == 0, f"exit code {code}"


def wait_subscribed(lines: Watching, page: WatchingPage) -> None:
    lines.wait_kind("stream", state="connected")
    page.wait_ready("connected")


def churn_under(churn: Churn, trouble: str) -> None:
    """The client's work, and some pods that stay, one of them dead."""
    churn.rounds(PODS)
    stay = churn.pods.run_many(3, "stays")
    churn.pods.kill(stay[0])
    churn.pods.wait_exited(stay[0].container_ids)
    longest = churn.longest()
    print(f"{trouble}: {len(churn.waits)} calls, the longest {longest.seconds:.2f} s", longest)


def slack_s(containerd: Containerd) -> float:
    """What a call may take by itself here and now, nobody watching."""
    with Churn(containerd.endpoint, cgroup_parent=containerd.cgroup) as alone:
        alone.round(25)
        return max(SLACK_S, 3 * alone.longest().seconds)


def assert_converges(watches: Iterable[Watch], pods: Pods) -> None:
    for watch in watches:
        watch.wait_agrees(lambda: pods.listing(everything=True).containers)


# ---------------------------------------------------------------------------- what goes wrong


@contextlib.contextmanager
def starved(watches: Iterable[Watch]) -> Iterator[None]:
    """One percent of a core for all of these processes together."""
    group = cpu_group()
    group.mkdir()
    try:
        if (group / "cpu.max").exists():
            (group / "cpu.max").write_text("1000 100000")
        else:
            (group / "cpu.cfs_period_us").write_text("100000")
            (group / "cpu.cfs_quota_us").write_text("1000")
        move(group, watches)
        yield
    finally:
        move(group.parent, watches)
        wait_for(lambda: not (group / "cgroup.procs").read_text(), "the cgroup to be empty")
        group.rmdir()


def move(group: Path, watches: Iterable[Watch]) -> None:
    for watch in watches:
        with contextlib.suppress(ProcessLookupError):
            (group / "cgroup.procs").write_text(str(watch.pid))


def cpu_group() -> Path:
    """A new cgroup with a limit on CPU, in whichever version of cgroups the machine has."""
    top = Path("/sys/fs/cgroup")
    name = f"plegscope-starved-{secrets.token_hex(3)}"
    for parent in (top / "cpu", top / "cpu,cpuacct"):
        if (parent / "cpu.cfs_quota_us").exists() or (parent / "cpu.shares").exists():
            return parent / name
    with contextlib.suppress(OSError):
        (top / "cgroup.subtree_control").write_text("+cpu")
        return top / name
    raise LabUnavailable("there is no cgroup for CPU. Mount one, or run as root on the host.")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "plegscope-test", disk], check=True, timeout=60
    )
    yield disk
    subprocess.run(["umount", disk], check=True, timeout=60)


def on_disk(disk: Path) -> dict[str, str]:
    """Variables that put everything a program may want to write onto this disk."""
    names = (
        "HOME",
        "TMPDIR",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_DATA_HOME",
    )
    return dict.fromkeys(names, str(disk))


def fill(disk: Path) -> None:
    with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(512))


# -------------------------------------------------------------------------------- containerd 2


def test_stopped_it_holds_up_no_call_longer_than_its_streams_deadline(node: Containerd) -> None:
    with (
        in_both_modes(node.endpoint) as (lines, page),
        Churn(node.endpoint, cgroup_parent=node.cgroup) as churn,
    ):
        wait_subscribed(lines, page)
        after = lines.mark()
        for watch in (lines, page):
            watch.pause()

        churn_under(churn, "stopped")
        assert lines.is_paused()
        assert page.is_paused()
        assert churn.longest().seconds <= DEADLINE_S + SLACK_S

        for watch in (lines, page):
            watch.resume()
        assert_converges((lines, page), churn.pods)
        lines.wait_kind("stream", after=after, state="connected")
        page.wait_ready("connected")


def test_starved_it_holds_up_no_call_longer_than_its_streams_deadline(node: Containerd) -> None:
    with (
        in_both_modes(node.endpoint) as watches,
        Churn(node.endpoint, cgroup_parent=node.cgroup) as churn,
    ):
        wait_subscribed(*watches)
        with starved(watches):
            churn_under(churn, "starved")
        assert churn.longest().seconds <= DEADLINE_S + SLACK_S
        assert_converges(watches, churn.pods)


def test_stopped_by_its_terminal_unread_or_on_a_full_disk_it_holds_up_nothing(
    node: Containerd, small_disk: Path
) -> None:
    slack = slack_s(node)
    with contextlib.ExitStack() as stack:
        suspended = stack.enter_context(in_both_modes(node.endpoint, own_group=True))
        full = stack.enter_context(in_both_modes(node.endpoint, variables=on_disk(small_disk)))
        unread = stack.enter_context(in_both_modes(node.endpoint, read=False))
        churn = stack.enter_context(Churn(node.endpoint, cgroup_parent=node.cgroup))
        wait_subscribed(*suspended)
        wait_subscribed(*full)
        unread[1].wait_ready("connected")
        stack.enter_context(contextlib.closing(unread[1].viewer_that_never_reads()))
        fill(small_disk)
        after = suspended[0].mark()
        for watch in suspended:
            watch.pause(signal.SIGTSTP)

        churn_under(churn, "stopped by its terminal, unread, or on a full disk")
        assert all(watch.is_paused() for watch in suspended)
        assert churn.longest().seconds <= slack

        for watch in suspended:
            watch.resume()
        unread[0].begin_reading()
        assert_converges((*suspended, *full, *unread), churn.pods)
        left = suspended[0].wait_kind("stream", after=after, state="waiting")
        assert left["code"] == "cancelled"
        suspended[0].wait_kind("stream", after=after, state="connected")


# ------------------------------------------------------------------------------ containerd 1.7


def test_on_1_7_another_subscriber_gets_every_event_whatever_becomes_of_it(
    containerd17: Containerd, small_disk: Path
) -> None:
    containerd17.recover()
    slack = slack_s(containerd17)
    containerd17.restart()  # those who left before would still take an event each
    endpoint = containerd17.endpoint
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(Subscriber(endpoint))
        well = stack.enter_context(in_both_modes(endpoint))
        stopped = stack.enter_context(in_both_modes(endpoint))
        hungry = stack.enter_context(in_both_modes(endpoint))
        full = stack.enter_context(in_both_modes(endpoint, variables=on_disk(small_disk)))
        unread = stack.enter_context(in_both_modes(endpoint, read=False))
        churn = stack.enter_context(Churn(endpoint, cgroup_parent=containerd17.cgroup))
        stack.enter_context(contextlib.closing(unread[1].viewer_that_never_reads()))
        for watch in stopped:
            watch.pause()
        fill(small_disk)
        with starved(hungry):
            churn_under(churn, "containerd 1.7, everything at once")
        assert len(churn.happened) == 8 * PODS
        assert other.missing(churn.happened) == set()
        assert other.received_twice() == {}
        assert churn.longest().seconds <= slack
        for watch in stopped:
            watch.resume()
        unread[0].begin_reading()
        assert_converges((*well, *stopped, *hungry, *full, *unread), churn.pods)

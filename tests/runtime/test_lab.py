"""The lab keeps its word: real containerds that do as told and leave nothing behind."""

from __future__ import annotations

import hashlib
import itertools
import os
import secrets
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import grpc
import pytest

from app.cri.pb import cri_pb2
from tests.lab import packages, proc
from tests.lab.config import containerd_config, may_lower_oom_score
from tests.lab.containerd import SHIM_SOCKETS, Containerd, sweep
from tests.lab.cri import Cri, enum_names, message
from tests.lab.errors import LabError, LabUnavailable
from tests.lab.image import IMAGE, image_archive, root_filesystem
from tests.lab.kubelet import HEEDS_TERM, OUT_OF_MEMORY
from tests.lab.pods import Listing, Pods, StartFailed, wait_for

EXITED = "CONTAINER_EXITED"
RUNNING = "CONTAINER_RUNNING"


# ---------------------------------------------------------------------- pods, on each version


def test_pod_is_run_killed_restarted_and_removed(each_pods: Pods) -> None:
    pod = each_pods.run("web", containers=2)
    first, second = pod.container_ids
    assert each_pods.listing() == Listing(
        {first: RUNNING, second: RUNNING}, {pod.sandbox_id: "SANDBOX_READY"}
    )

    assert each_pods.kill(first) == 1
    each_pods.wait_exited([first])
    ended = each_pods.status(first)
    assert (ended.state, ended.exit_code, ended.reason) == (EXITED, 137, "Error")
    assert ended.created_at <= ended.started_at <= ended.finished_at

    again = each_pods.restart(pod, "c0")
    assert each_pods.status(again).attempt == 1
    assert each_pods.listing().containers == {first: EXITED, second: RUNNING, again: RUNNING}

    each_pods.remove(pod)
    assert each_pods.listing() == Listing({}, {})


def test_ways_to_end(each_pods: Pods) -> None:
    def ends(name: str, command: Sequence[str], memory_mib: int = 0) -> tuple[int, str]:
        pod = each_pods.run(name, command, memory_mib=memory_mib)
        each_pods.wait_exited(pod.container_ids)
        info = each_pods.status(pod.container_ids[0])
        return info.exit_code, info.reason

    assert ends("done", ["sh", "-c", "exit 0"]) == (0, "Completed")
    assert ends("failed", ["sh", "-c", "exit 1"]) == (1, "Error")
    assert ends("fat", OUT_OF_MEMORY, memory_mib=32) == (137, "OOMKilled")

    polite = each_pods.run("polite", HEEDS_TERM)
    stubborn = each_pods.run("stubborn")
    each_pods.wait_for_handler(polite.container_ids[0])
    each_pods.stop(polite, grace_s=60)
    each_pods.stop(stubborn, grace_s=0)
    assert each_pods.status(polite.container_ids[0]).exit_code == 0
    assert each_pods.status(stubborn.container_ids[0]).exit_code == 137

    with pytest.raises(StartFailed, match="no such file") as refused:
        each_pods.run("bad", ["/no/such/program"])
    broken = each_pods.status(refused.value.pod.container_ids[0])
    assert (broken.state, broken.exit_code, broken.reason) == (EXITED, 128, "StartError")


def test_killed_pause_process_leaves_containers_running(each_pods: Pods) -> None:
    pod = each_pods.run("web")
    assert each_pods.kill_pause(pod) == 1
    wait_for(
        lambda: each_pods.listing().sandboxes == {pod.sandbox_id: "SANDBOX_NOTREADY"},
        "the sandbox to be NOTREADY",
    )
    assert each_pods.listing().containers == {pod.container_ids[0]: RUNNING}
    next_sandbox = each_pods.run("web", uid=pod.uid, attempt=1)
    assert (next_sandbox.uid, next_sandbox.attempt) == (pod.uid, 1)
    assert each_pods.status(next_sandbox.container_ids[0]).attempt == 1


def test_storm_kills_all(each_pods: Pods) -> None:
    made = each_pods.storm(10)
    killed = [container for pod in made for container in pod.container_ids]
    each_pods.wait_exited(killed)
    assert each_pods.listing().containers == dict.fromkeys(killed, EXITED)


def test_what_others_made_is_left_alone(containerd2: Containerd, pods2: Pods) -> None:
    mine = pods2.run("mine")
    with Pods(containerd2.endpoint, cgroup_parent=containerd2.cgroup) as others:
        theirs = others.run("theirs")
        assert pods2.kill(theirs) == 0
        with pytest.raises(LabError, match="no pod 'theirs'"):
            pods2.find("theirs")
        with pytest.raises(LabError, match="not of this run"):
            pods2.remove(theirs)
        assert pods2.remove_all() == 1
        assert others.listing().sandboxes == {theirs.sandbox_id: "SANDBOX_READY"}
        everything = others.listing(everything=True).sandboxes
        assert theirs.sandbox_id in everything
        assert mine.sandbox_id not in everything


# ----------------------------------------------------------------------------------- events


@pytest.mark.parametrize("version", ["17", "2"])
def test_events_of_a_pod(version: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(f"containerd{version}").restart()  # no events of other tests
    pods: Pods = request.getfixturevalue(f"pods{version}")
    with pods.events(60.0) as stream:
        # Not at once: told by two threads of the runtime, its end might come before its start.
        pod = pods.run("job", ["sh", "-c", "sleep 1; exit 3"])
        seen = [
            (event.container_id, enum_names("ContainerEventType")[event.container_event_type])
            for event in itertools.islice(stream, 5)
        ]
    assert seen == [
        (pod.sandbox_id, "CONTAINER_CREATED_EVENT"),
        (pod.sandbox_id, "CONTAINER_STARTED_EVENT"),
        (pod.container_ids[0], "CONTAINER_CREATED_EVENT"),
        (pod.container_ids[0], "CONTAINER_STARTED_EVENT"),
        (pod.container_ids[0], "CONTAINER_STOPPED_EVENT"),
    ]


def test_events_are_not_there_on_16(pods16: Pods) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        next(iter(pods16.events(10.0)))
    assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_stream_ends_when_its_time_is_up(pods2: Pods) -> None:
    pods2.run("web")
    assert all(event.container_id for event in pods2.events(0.5))


def test_cancelled_stream_ends_without_error(pods2: Pods) -> None:
    with pods2.events() as stream:
        received = iter(stream)
        # Not before: who has only just left may still take what is told then.
        pods2.run("web")
        assert next(received).container_id
        stream.cancel()
        assert all(event.container_id for event in received)


# --------------------------------------------------------------------- containerd's own life


def test_frozen_answers_nothing_and_thawed_answers(
    each_containerd: Containerd, each_pods: Pods
) -> None:
    each_containerd.freeze()
    with pytest.raises(grpc.RpcError) as late:
        each_pods.cri.call("Version", timeout_s=0.3)
    assert late.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    each_containerd.thaw()
    assert each_pods.cri.call("Version", timeout_s=60.0).runtime_name == "containerd"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["term", "kill"])
def test_restart_keeps_pods(
    each_containerd: Containerd, each_pods: Pods, number: signal.Signals
) -> None:
    pod = each_pods.run("web")
    before = each_containerd.pid
    each_containerd.restart(number)
    assert each_containerd.pid not in (0, before)
    assert each_pods.listing() == Listing(
        {pod.container_ids[0]: RUNNING}, {pod.sandbox_id: "SANDBOX_READY"}
    )


def test_exit_while_stopped_is_listed_after_the_start(
    each_containerd: Containerd, each_pods: Pods
) -> None:
    pod = each_pods.run("web")
    main = each_pods.main_pid(pod.container_ids[0])
    each_containerd.stop()
    assert each_containerd.pid == 0
    with proc.Process(main) as process:
        process.signal(signal.SIGKILL)
        assert process.ended(60.0)
    each_containerd.start()
    each_pods.wait_exited(pod.container_ids)
    assert each_pods.status(pod.container_ids[0]).exit_code in (137, 255)


def test_three_versions_side_by_side(
    containerd16: Containerd, containerd17: Containerd, containerd2: Containerd
) -> None:
    versions = []
    for containerd in (containerd16, containerd17, containerd2):
        containerd.recover()
        with Cri(containerd.endpoint) as cri:
            versions.append(cri.call("Version", timeout_s=60.0).runtime_version)
        assert len(os.fsencode(containerd.socket)) <= 107
    assert [version[:2] for version in versions] == ["1.", "1.", "2."]
    assert [version[:4] for version in versions[:2]] == ["1.6.", "1.7."]


# ---------------------------------------------------------------------------------- no trace


def traces(containerd: Containerd) -> list[str]:
    """Whatever on this machine mentions the instance, found without the lab's own finders."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "cgroup"):
            try:
                if containerd.name in (entry / name).read_text(errors="replace"):
                    found.append(str(entry / name))
            except OSError:
                continue
    mounts = Path("/proc/mounts").read_text().splitlines()
    found += [line for line in mounts if containerd.name in line]
    for pattern in ("sys/fs/cgroup/{}", "sys/fs/cgroup/*/{}", "run/*/{}"):
        found += map(str, Path("/").glob(pattern.format(f"*{containerd.name}*")))
    return found


def shim_socket(containerd: Containerd, sandbox_id: str) -> Path:
    key = f"{containerd.socket}/k8s.io/{sandbox_id}".encode()
    return SHIM_SOCKETS / hashlib.sha256(key).hexdigest()


def test_purge_leaves_no_trace(every_version: str) -> None:
    containerd = Containerd(every_version)
    sockets = []

    def test_that_fails() -> None:
        with containerd:
            pods = Pods(containerd.endpoint, cgroup_parent=containerd.cgroup)
            for pod in (pods.run("left", containers=2), pods.run("headless")):
                sockets.append(shim_socket(containerd, pod.sandbox_id))
            pods.kill_pause(pod)
            pods.close()
            assert all(socket.exists() for socket in sockets)
            kinds = {line.split()[0] for line in containerd.leftovers()}
            assert kinds == {"containerd", "shim", "container", "mount", "cgroup", "directory"}
            assert traces(containerd)
            containerd.freeze()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        test_that_fails()
    assert containerd.leftovers() == []
    assert traces(containerd) == []
    assert not any(socket.exists() for socket in sockets)
    containerd.purge()


def test_sweep_purges_what_a_killed_process_left(containerd2: Containerd) -> None:
    script = (
        "from tests.lab.containerd import Containerd; from tests.lab.pods import Pods\n"
        "c = Containerd('2'); c.start(); Pods(c.endpoint, cgroup_parent=c.cgroup).run('web')\n"
        "print(c.name, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdout
        name = process.stdout.readline().strip()
        orphan = Containerd("2", name=name)
        assert name not in sweep()
        assert orphan.pid
        process.kill()
    # And what others on this machine may have left.
    assert name in sweep()
    assert orphan.leftovers() == []
    assert traces(orphan) == []
    assert containerd2.pid


# ------------------------------------------------------------------------------ the hand tool


@pytest.fixture
def hand(containerd2: Containerd) -> Iterator[str]:
    """The name of an instance for the hand tool, purged at the end."""
    assert containerd2.binaries.version == "2"  # the tool need not fetch it
    name = f"try-{secrets.token_hex(3)}"
    yield name
    Containerd("2", name=f"{name}-2").purge()


def test_hand_tool(hand: str) -> None:
    def tool(*words: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tests.lab", "--instance", hand, *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=Path(__file__).parents[2],
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    assert "does not run" in tool("status", code=3)
    assert "Start it with `start`" in tool("ps", code=1)
    assert f"unix:///run/plegscope-lab/{hand}-2/c.sock" in tool("start")
    tool("run", "web", "--count", "2", "--", "sh", "-c", "sleep 1000")
    assert "processes signalled: 1" in tool("kill", "web-0")
    wait_for(lambda: tool("ps").count("exit 137 Error") == 1, "the killed container")
    assert "STOPPED" in tool("events", "--seconds", "3")
    assert "3 pods removed" in tool("storm", "--count", "1") + tool("rm")
    assert "no pod 'web-0'" in tool("kill", "web-0", code=1)
    tool("freeze")
    assert "DEADLINE_EXCEEDED" in tool("status", code=1)
    tool("purge")
    assert Containerd("2", name=f"{hand}-2").leftovers() == []


# --------------------------------------------------------------------- pieces without a runtime


def test_messages_live_beside_those_of_the_dashboard() -> None:
    ours = message("ContainerEventResponse")(container_id="a", container_event_type=2)
    theirs = cri_pb2.ContainerEventResponse.FromString(ours.SerializeToString())
    assert type(ours) is not type(theirs)
    assert (theirs.container_id, theirs.container_event_type) == ("a", 2)


def test_image_is_the_same_every_time() -> None:
    def archive() -> bytes:
        return image_archive(root_filesystem(b"program", ["sh", "ls", "busybox", "ls"]))

    assert archive() == archive()
    assert IMAGE.encode() in archive()
    assert archive() != image_archive(root_filesystem(b"another", ["sh"]))


@pytest.mark.parametrize("config_version", [2, 3])
def test_config_is_toml_and_stays_in_its_directory(config_version: int, tmp_path: Path) -> None:
    runc = tmp_path / "bin" / "runc"
    text = containerd_config(config_version, tmp_path, tmp_path / "c.sock", runc, log_level="debug")
    parsed = tomllib.loads(text)
    assert parsed["version"] == config_version
    assert parsed["grpc"]["address"] == str(tmp_path / "c.sock")
    paths = [word for word in text.split('"') if word.startswith("/")]
    assert str(runc) in paths
    assert all(path.startswith(f"{tmp_path}/") for path in paths)


@pytest.mark.parametrize(
    ("status", "able"),
    [
        ("Name:\tx\nCapEff:\t000001ffffffffff\n", True),
        ("Name:\tx\nCapEff:\t000001fffeffffff\n", False),
        ("Name:\tx\n", False),
    ],
)
def test_capability_for_oom_scores(status: str, able: bool) -> None:
    assert may_lower_oom_score(status) is able


def test_fetch_that_fails_says_what_to_do_and_leaves_nothing_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt = tmp_path / "bin" / "apt-get"
    apt.parent.mkdir()
    apt.write_text("#!/bin/sh\necho 'E: the mirror is away.' >&2\nexit 100\n")
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{apt.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PLEGSCOPE_LAB_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(packages, "PAUSE_S", 0.0)
    monkeypatch.setattr(packages, "host_suite", lambda: "bookworm")
    half = tmp_path / "cache" / "programs" / "containerd-2"
    half.mkdir(parents=True)
    (half / "containerd").write_text("half a download")

    with pytest.raises(LabUnavailable, match=r"the mirror is away\. .*python -m tests\.lab fetch"):
        packages.fetch("2")
    assert [path.name for path in half.parent.iterdir()] == ["containerd-2"]


def test_unknown_version_is_refused() -> None:
    with pytest.raises(LabError, match=r"no containerd '3\.0' .* 1\.6, 1\.7, 2"):
        packages.fetch("3.0")


def test_lock_lets_one_in_at_a_time(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    entered = threading.Event()

    def second() -> None:
        with packages.locked(lock):
            entered.set()

    with packages.locked(lock):
        with pytest.raises(LabError, match="fuser"), packages.locked(lock, timeout_s=0.0):
            pass
        thread = threading.Thread(target=second)
        thread.start()
        assert not entered.wait(0.05)
    assert entered.wait(60.0)
    thread.join()

"""``plegscope demo`` as a process: it prints an address, serves, tells a chain, and ends well."""

from __future__ import annotations

import json
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.commands import Command, demo, environment, get, until
from tests.commands import command as run
from tests.patience import PATIENCE_S

TITLE = re.compile(r"^plegscope watches (.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def running() -> Iterator[Command]:
    with demo() as command:
        command.address()
        yield command


def test_it_prints_an_address_without_a_token_on_loopback(running: Command) -> None:
    address = urlsplit(running.address())
    assert address.hostname == "127.0.0.1"
    assert address.query == ""


def test_the_page_comes_with_a_strict_policy(running: Command) -> None:
    page = get(running.address())
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "<title>" in page.text


def test_everything_the_page_names_is_served_by_plegscope_itself(running: Command) -> None:
    page = get(running.address()).text
    names = [part.split('"')[0] for mark in ('src="', 'href="') for part in page.split(mark)[1:]]
    assert any(name.startswith("/static/") for name in names)
    for name in names:
        if name.startswith("/static/"):
            answer = get(running.address().rstrip("/") + name)
            assert answer.status_code == 200, name
        else:
            assert name.startswith(("/", "#")), name


def messages(running: Command) -> Iterator[dict[str, Any]]:
    address = urlsplit(running.address())
    url = f"ws://{address.netloc}/ws"
    origin = Origin(f"http://{address.netloc}")
    # A snapshot may be larger than a message is taken to be by default.
    with connect(url, origin=origin, open_timeout=PATIENCE_S, max_size=None) as socket_:
        while True:
            yield json.loads(socket_.recv(timeout=PATIENCE_S))


def whole_chain(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A death that an event told of, that event and its request; none until all three are there."""
    for died in records:
        if died["kind"] == "lifecycle" and died["type"] == "ContainerDied" and died["event"]:
            by = {"stream_event": "event", "request": "request"}
            found = [
                one for one in records if one["kind"] in by and one[by[one["kind"]]]
                == died[by[one["kind"]]]
            ]  # fmt: skip
            if died["source"] == "evented_pleg" and len(found) == len(by):
                return [died, *found]
    return []


def test_a_viewer_gets_a_snapshot_then_batches_and_sees_a_whole_chain(running: Command) -> None:
    kinds: list[str] = []
    records: list[dict[str, Any]] = []
    chain: list[dict[str, Any]] = []
    for message in messages(running):
        kinds.append(message["type"])
        if message["type"] == "snapshot":
            # Another one: this viewer lagged, and begins anew.
            records.clear()
        if message["type"] in ("snapshot", "batch"):
            records += message["records"]
            chain = whole_chain(records)
        if chain and "batch" in kinds:
            break
    assert kinds[:2] == ["hello", "snapshot"]
    numbers = [record["seq"] for record in records]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    died, event, asked = chain
    assert (event["kind"], asked["kind"]) == ("stream_event", "request")
    assert (event["type"], asked["event"]) == ("stopped", event["event"])
    assert died["after_ns"] == died["t"] - event["t"]


def test_the_api_agrees_with_itself(running: Command) -> None:
    base = running.address().rstrip("/")
    assert get(f"{base}/api/v1/state").json()["simulated"] is True

    def living() -> list[dict[str, Any]]:
        pods = get(f"{base}/api/v1/pods").json()["pods"]
        return [pod for pod in pods if pod["gone_t"] is None]

    # Behind its first relist, and never more than a moment after that.
    until(lambda: len(living()) >= 15, "the pods to be listed")
    assert get(f"{base}/healthz").json()["status"] == "ok"
    assert "kubelet_pleg_relist_duration_seconds_count" in get(f"{base}/metrics").text


def test_it_ends_by_itself_after_its_duration_with_exit_code_0() -> None:
    with demo("--duration", "1s") as command:
        assert command.ended() == 0
        assert command.err == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_well_and_leaves_no_socket(number: int) -> None:
    with demo() as command:
        command.address()
        endpoint = command.endpoint()
        command.process.send_signal(number)
        assert command.ended() == 0
        assert command.err == ""
        with pytest.raises(FileNotFoundError), socket.socket(socket.AF_UNIX) as left:
            left.connect(endpoint.removeprefix("unix://"))


def test_a_viewer_that_reads_nothing_does_not_delay_the_end() -> None:
    with demo() as command:
        address = urlsplit(command.address())
        assert address.hostname != "0.0.0.0"
        assert address.port is not None
        with socket.create_connection(("127.0.0.1", address.port), PATIENCE_S) as stuck:
            lines = (
                "GET /ws HTTP/1.1",
                f"Host: {address.netloc}",
                f"Origin: http://{address.netloc}",
                "Connection: Upgrade",
                "Upgrade: websocket",
                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
                "Sec-WebSocket-Version: 13",
            )
            stuck.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
            assert stuck.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 101"
            command.process.terminate()
            # It would be for ever; how soon it is, tests/web/test_server.py tells.
            assert command.ended(20) == 0


def test_a_port_in_use_is_a_sentence_with_a_way_out_and_leaves_no_recording(
    tmp_path: Path,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        env = environment(XDG_STATE_HOME=str(tmp_path))
        with run("demo", "--port", port, "--no-browser", env=env) as command:
            assert command.ended() == 1
            assert list(tmp_path.rglob("*.mcap")) == []
            assert "is in use" in command.err
            assert "--port 0" in command.err
            assert "Traceback" not in command.err


def test_an_address_open_to_others_is_guarded_by_a_token() -> None:
    with demo("--host", "0.0.0.0") as command:
        address = urlsplit(command.address())
        assert address.query.startswith("token=")
        local = f"http://127.0.0.1:{address.port}"
        assert get(f"{local}/").status_code == 401
        assert get(f"{local}/?{address.query}").status_code == 303


RESTART = """
title = "The runtime is restarted at once"
shows = "The same as runtime-restart, without its minute of quiet."
duration = "1m"

[[workload]]
kind = "replicas"
name = "web"
namespace = "shop"
count = 5
mishap = [{ every = ["500ms", "1s"], ending = "error" }]

# Dies in the middle of the restart.
[[workload]]
kind = "replicas"
name = "unlucky"
namespace = "shop"
end_all = [{ at = "6s", ending = "error" }]

[[fault]]
kind = "runtime-restarts"
at = "5s"
for = "2s"
"""


def test_a_scenario_is_played_over_grpc_with_its_faults(tmp_path: Path) -> None:
    """The runtime goes away and comes back: the stream too, and everything is found."""
    file = tmp_path / "restart-soon.toml"
    file.write_text(RESTART, encoding="utf-8")
    with demo("--scenario", str(file), "--seed", "3") as command:
        base = command.address().rstrip("/")
        state = get(f"{base}/api/v1/state").json()
        assert state["title"] == "Simulated node, scenario restart-soon, seed 3"
        stream: list[str] = []
        notes: list[str] = []
        died: dict[str, list[str]] = {"unlucky": [], "web after the restart": []}
        codes: set[int] = set()
        names: dict[str, str] = {}
        seen = 0
        for message in messages(command):
            for record in message.get("records", ()):
                if record["seq"] <= seen:
                    # Told again, as this viewer lagged.
                    continue
                kind, seen = record["kind"], record["seq"]
                if "uid" in record and "name" in record:
                    names[record["uid"]] = record["name"]
                if kind == "stream":
                    stream.append(record["state"])
                elif kind == "note":
                    notes.append(record["text"])
                elif kind == "pod_cached" and record["name"].startswith("unlucky"):
                    codes |= {one["exit_code"] for one in record["containers"]}
                elif kind == "lifecycle" and record["type"] == "ContainerDied":
                    if names[record["uid"]].startswith("unlucky"):
                        died["unlucky"].append(record["source"])
                    elif "waiting" in stream and stream[-1] == "connected":
                        died["web after the restart"].append(record["source"])
            if all(died.values()) and "evented_pleg" in died["web after the restart"]:
                break
        assert stream.index("connected") < stream.index("waiting")
        assert died["unlucky"] == ["global"]  # no event ever told of it
        assert 255 in codes
        faults = [text for text in notes if text.startswith("Fault")]
        assert faults[0].startswith("Fault begins: Restart the runtime. It imitates: systemctl")
        assert faults[1:] == ["Fault is over: Restart the runtime."]


def test_the_title_names_the_scenario_that_comes_with_plegscope() -> None:
    with demo("--scenario", "runtime-restart", "--duration", "1s") as command:
        assert "scenario runtime-restart, seed 7" in command.wait_out(TITLE)
        assert command.ended() == 0
        assert command.err == ""


@pytest.mark.parametrize("name", ["containerd-1.7", "containerd-1.6", "cri-o"])
def test_the_node_behaves_like_another_runtime(name: str) -> None:
    with demo("--runtime-like", name) as command:
        assert f"Simulated node like {name}, seed 7" in command.wait_out(TITLE)
        base = command.address().rstrip("/")
        runtime = get(f"{base}/api/v1/state").json()["runtime"]
        kind, _, version = name.rpartition("-")
        assert (runtime["name"], runtime["policy"]) == (kind if kind != "cri" else name, "join")
        assert runtime["version"].startswith(version if kind != "cri" else "1.")
        # Nobody else listens: it is joined, and containerd 1.6 says that there is none.
        wanted = ("waiting", "unimplemented") if version == "1.6" else ("connected", None)
        seen = []
        for message in messages(command):
            seen.append(message["type"])
            if message["type"] not in ("snapshot", "state"):
                continue
            stream = message["state"]["engine"]["stream"]
            if (stream["state"], stream["code"]) == wanted:
                break
            assert stream["code"] != "cancelled", stream
        assert seen[0] == "hello"


def test_a_runtime_that_cannot_be_simulated_is_told_in_a_sentence() -> None:
    with demo("--runtime-like", "docker") as command:
        assert command.ended() == 1
        assert "choose one of containerd-2, containerd-1.7, containerd-1.6, cri-o." in command.err

"""``plegscope watch`` as a process: tokens, JSON lines, and a sentence for each way to fail."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import grpc
import httpx
import pytest

from tests.commands import command, demo, environment, get, until
from tests.patience import PATIENCE_S

STREAM = re.compile(r"^ +event stream +(.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The CRI socket of a demo's simulated node, which anybody may watch."""
    with demo() as running:
        yield running.endpoint()


def refusal(*words: str, env: dict[str, str] | None = None) -> str:
    """What a watch that cannot begin says."""
    with command("watch", "--port", "0", "--no-browser", *words, env=env) as running:
        assert running.ended() == 1
        assert running.out == ""
        said = running.err
    assert said.startswith("plegscope: ")
    assert said.count("\n") == 1
    assert "Traceback" not in said
    return said


def test_it_says_which_endpoint_it_took_and_why(endpoint: str) -> None:
    with command(
        "watch", "--port", "0", "--no-browser", env=environment(CONTAINER_RUNTIME_ENDPOINT=endpoint)
    ) as running:
        assert running.endpoint() == endpoint
        assert "given by CONTAINER_RUNTIME_ENDPOINT" in running.out


def test_a_real_node_needs_the_token_and_the_cookie_replaces_it(endpoint: str) -> None:
    with command("watch", "--port", "0", "--no-browser", "--runtime-endpoint", endpoint) as running:
        address = running.address()
        base = f"http://{urlsplit(address).netloc}"
        token = urlsplit(address).query.removeprefix("token=")
        assert get(base + "/").status_code == 401
        assert get(base + "/api/v1/state").status_code == 401
        assert get(base + "/healthz").status_code == 200
        with httpx.Client(timeout=PATIENCE_S, trust_env=False) as browser:
            moved = browser.get(address)
            assert moved.status_code == 303
            assert "token" not in moved.headers["location"]
            assert browser.get(base + "/").status_code == 200
        bearer = {"Authorization": f"Bearer {token}"}
        assert get(base + "/api/v1/state", headers=bearer).status_code == 200


def test_json_lines_without_a_web_server(endpoint: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app", "watch", "--format", "jsonl", "--duration", "4s",
         "--runtime-endpoint", endpoint],
        capture_output=True, text=True, check=False, timeout=PATIENCE_S, env=environment(),
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert {"watching", "runtime", "relist_finished", "pod_cached"} <= {
        line["kind"] for line in lines
    }
    assert "plegscope watches" in done.stderr


def test_json_lines_end_well_when_the_reader_goes(endpoint: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "app", "watch", "--format", "jsonl", "--runtime-endpoint", endpoint],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stderr is not None
        assert json.loads(running.stdout.readline())["kind"]
        running.stdout.close()
        assert running.wait(PATIENCE_S) == 0
        assert "Traceback" not in running.stderr.read()


def test_no_socket_anywhere(tmp_path: Path) -> None:
    said = refusal("--runtime-endpoint", f"unix://{tmp_path}/none.sock")
    assert "none.sock" in said


def test_a_file_that_is_no_socket(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("hello", encoding="utf-8")
    assert "socket" in refusal("--runtime-endpoint", f"unix://{file}")


def test_an_address_of_another_kind() -> None:
    assert "unix://" in refusal("--runtime-endpoint", "tcp://127.0.0.1:1234")


def test_nobody_listens_any_more(tmp_path: Path) -> None:
    path = tmp_path / "dead.sock"
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(path))
    assert "dead.sock" in refusal("--runtime-endpoint", f"unix://{path}")


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root: run as root")
def test_no_permission(tmp_path: Path, endpoint: str) -> None:
    """As root every socket is open, so another user tries."""
    program = (
        "import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534);"
        "from app.cri.endpoints import find_endpoint\n"
        "from app.errors import EndpointError\n"
        "try: find_endpoint(sys.argv[1])\n"
        "except EndpointError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import app.cri.endpoints\n{program}", endpoint],
        capture_output=True, text=True, check=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert "sudo" in done.stdout


Serve = Callable[[Callable[[socket.socket], None]], str]


@pytest.fixture
def serve_socket(tmp_path: Path) -> Iterator[Serve]:
    """Serves a unix socket with a function per connection, which is open to the end."""
    listeners: list[socket.socket] = []
    threads: list[threading.Thread] = []
    connections: list[socket.socket] = []

    def serve(handle: Callable[[socket.socket], None]) -> str:
        path = tmp_path / "s.sock"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()
        listeners.append(listener)

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connections.append(connection)
                # Whoever came may have gone again.
                with contextlib.suppress(OSError):
                    handle(connection)

        threads.append(threading.Thread(target=accept, daemon=True))
        threads[-1].start()
        return f"unix://{path}"

    yield serve
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
    for thread in threads:
        thread.join(PATIENCE_S)
    for connection in connections:
        connection.close()


def test_something_that_accepts_and_never_answers_is_watched_and_told_as_hung(
    serve_socket: Serve,
) -> None:
    hung = serve_socket(lambda _: None)
    with command("watch", "--port", "0", "--no-browser", "--runtime-endpoint", hung) as running:
        assert "has not said who it is" in running.wait_out(STREAM)
        address = urlsplit(running.address())
        bearer = {"Authorization": f"Bearer {address.query.removeprefix('token=')}"}

        def is_silent() -> bool:
            state = get(f"http://{address.netloc}/api/v1/state", headers=bearer).json()
            assert state["runtime"] is None
            last = state["engine"]["last_global"]
            return last is not None and (last["ok"], last["code"]) == (False, "silent")

        until(is_silent, "a list that was not answered")


def test_something_that_speaks_another_language(serve_socket: Serve) -> None:
    def speak(connection: socket.socket) -> None:
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        connection.shutdown(socket.SHUT_RDWR)

    assert "CRI" in refusal("--runtime-endpoint", serve_socket(speak))


def test_grpc_without_the_cri_is_told_as_the_wrong_api(tmp_path: Path) -> None:
    path = tmp_path / "g.sock"
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_insecure_port(f"unix://{path}")
    server.start()
    try:
        assert "v1" in refusal("--runtime-endpoint", f"unix://{path}")
    finally:
        server.stop(None).wait()

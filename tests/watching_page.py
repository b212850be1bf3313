"""``plegscope watch`` with its dashboard, for tests: asked over HTTP, and by viewers."""

from __future__ import annotations

import contextlib
import json
import socket
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from tests.lab.pods import wait_for
from tests.patience import PATIENCE_S
from tests.watching import Listed, Process, states


class WatchingPage(Process):
    """``plegscope watch`` on one endpoint with its dashboard on any free port.

    Its standard output is a pipe that nobody reads once the address has come, or the file
    ``output``.
    """

    def __init__(
        self, endpoint: str, *flags: str, output: Path | None = None, **options: Any
    ) -> None:
        words = ["--port", "0", "--no-browser", "--runtime-endpoint", endpoint, *flags]
        if output is None:
            super().__init__(words, **options)
            assert self.process.stdout is not None
            said = iter(self.process.stdout.readline, b"")
            address = next((line.strip() for line in said if b"://127" in line), b"").decode()
        else:
            with output.open("wb") as file:
                super().__init__(words, stdout=file, **options)
            wait_for(lambda: "token=" in output.read_text(), "the dashboard's address", PATIENCE_S)
            address = next(word for word in output.read_text().split() if "://127" in word)
        assert address, self.errors()
        parts = urllib.parse.urlsplit(address)
        self.netloc = parts.netloc
        self.token = urllib.parse.parse_qs(parts.query)["token"][0]

    def get(self, path: str) -> Any:
        """An answer of the API, read from JSON."""
        request = urllib.request.Request(
            f"http://{self.netloc}{path}", headers={"Authorization": f"Bearer {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def wait_ready(self, stream: str | None = None) -> None:
        """Until the first global relist is complete and the stream is in the state ``stream``."""

        def ready() -> bool:
            engine = self.get("/api/v1/state")["engine"]
            relisted = engine["last_global"] is not None and engine["last_global"]["ok"]
            return relisted and stream in (None, engine["stream"]["state"])

        wait_for(ready, f"the dashboard to be ready (stream {stream})", PATIENCE_S)

    def containers(self) -> dict[str, str]:
        """Container id to state, as the page's pods have them: what the shadow believes."""
        rows = self.get("/api/v1/pods")["pods"]
        living = (row for row in rows if row["gone_t"] is None and not row["error"])
        return {one["id"]: one["runtime_state"] for row in living for one in row["containers"]}

    def wait_agrees(self, listed: Listed) -> None:
        """Until the shadow believes exactly what the runtime lists."""
        wait_for(
            lambda: self.containers() == states(listed()), "the dashboard to agree", PATIENCE_S
        )

    def viewer_that_never_reads(self) -> socket.socket:
        """A browser that opens the WebSocket and takes nothing from it; to be closed."""
        viewer = socket.socket()
        with contextlib.ExitStack() as stack:
            stack.callback(viewer.close)
            # Little room on this side, so that what is not read is soon felt on the other.
            viewer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            host, _, port = self.netloc.partition(":")
            viewer.connect((host, int(port)))
            lines = (
                "GET /ws HTTP/1.1",
                f"Host: {self.netloc}",
                f"Origin: http://{self.netloc}",
                f"Authorization: Bearer {self.token}",
                "Connection: Upgrade",
                "Upgrade: websocket",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: bm9ib2R5IHJlYWRzIG5vdw==",
            )
            viewer.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
            wait_for(
                lambda: self.get("/api/v1/state")["viewers"] > 0,
                "the viewer to be let in",
                PATIENCE_S,
            )
            stack.pop_all()
        return viewer

"""``plegscope simulate`` writes a journal, ``plegscope replay`` shows it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.commands import command, environment, until
from tests.patience import PATIENCE_S


def test_a_simulated_journal_is_shown_and_stands_still(tmp_path: Path) -> None:
    file = tmp_path / "churn.jsonl"
    with file.open("wb") as out:
        subprocess.run(
            [sys.executable, "-m", "app", "simulate", "churn", "--duration", "30s",
             "--format", "jsonl"],
            stdout=out, check=True, timeout=PATIENCE_S, env=environment(),
        )  # fmt: skip
    with command("replay", str(file), "--port", "0", "--no-browser") as running:
        address = running.address()
        base = f"http://{urlsplit(address).netloc}"
        with httpx.Client(timeout=PATIENCE_S) as browser:
            assert browser.get(address, follow_redirects=True).status_code == 200
            recording = f"{base}/api/v1/recording"
            until(lambda: browser.get(recording).json()["whole"], "all to be read")
            state = browser.get(f"{base}/api/v1/state").json()
            again = browser.get(f"{base}/api/v1/state").json()
        assert state["ended"] is True
        assert state["title"] == "churn.jsonl"
        assert state["engine"] == again["engine"]
        assert state["last_seq"] == len(file.read_bytes().splitlines()) - 1
        running.process.terminate()
        assert running.ended() == 0


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with command("replay", str(tmp_path / "none.jsonl")) as running:
        assert running.ended() == 1
        assert "cannot be read" in running.err
        assert "Traceback" not in running.err

"""Who is this runtime, and may its stream be joined?"""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.clock import RealClock
from app.cri.client import CriClient, Deadlines
from app.cri.probe import decide, parse_version, probe
from app.errors import RuntimeSilent, RuntimeUnusable
from tests.cri.fakes import FakeRuntime, Refuse, version

# Versions


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1.6.20~ds1", (1, 6, 20, False)),
        ("v1.7.24", (1, 7, 24, False)),
        ("2.1.9+unknown", (2, 1, 9, False)),
        ("1.37", (1, 37, 0, False)),
        ("2.0.0-beta.1", (2, 0, 0, True)),
        ("v2.0.0-k3s1.32", (2, 0, 0, False)),
    ],
)
def test_the_numbers_of_a_version(text: str, numbers: tuple[int, int, int, bool]) -> None:
    assert parse_version(text) == numbers


@pytest.mark.parametrize("text", ["", "dev", "v", "1", "x1.2.3", "١.٢.٣", "1" * 50 + ".1"])
def test_what_is_no_version(text: str) -> None:
    assert parse_version(text) is None


# The decision


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("containerd", "2.0.0"),
        ("containerd", "v2.0.3"),
        ("containerd", "2.1.9+unknown"),
        ("containerd", "2.1.0-rc.1"),
        ("containerd", "v2.0.0-k3s1"),
        ("containerd", "10.0.0"),
        ("cri-o", "1.28.0"),
        ("cri-o", "1.37.0-dev"),
    ],
)
@pytest.mark.parametrize("flag", [False, True])
def test_a_broadcasting_runtime_is_joined(name: str, number: str, flag: bool) -> None:
    made = decide(name, number, join_shared_stream=flag)
    assert (made.policy, made.shared) == ("join", False)
    assert made.reason == f"{name} {number} gives every subscriber every event."


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("containerd", "1.7.0"),
        ("containerd", "v1.7.24"),
        ("containerd", "2.0.0-beta.0"),
        ("cri-o", "1.27.9"),
        ("cri-o", "1.28.0-dev"),
    ],
)
def test_a_shared_channel_is_left_alone_unless_asked_for(name: str, number: str) -> None:
    left = decide(name, number)
    assert (left.policy, left.shared) == ("relist_only", True)
    assert "take events away from a kubelet with EventedPLEG on" in left.reason
    assert left.reason.endswith("--join-shared-stream.")
    joined = decide(name, number, join_shared_stream=True)
    assert (joined.policy, joined.shared) == ("join", True)
    assert "a kubelet with EventedPLEG on loses" in joined.reason


def test_a_containerd_that_is_too_old_has_no_stream_and_says_so() -> None:
    left = decide("containerd", "1.6.20~ds1")
    assert (left.policy, left.shared) == ("relist_only", True)
    assert "has no event stream" in left.reason
    assert decide("containerd", "1.6.20~ds1", join_shared_stream=True).policy == "join"


@pytest.mark.parametrize(
    ("name", "number"),
    [("docker", "27.0.1"), ("", ""), ("containerd", "dev"), ("Containerd", "2.1.0")],
)
def test_an_unknown_runtime_is_left_alone_unless_asked_for(name: str, number: str) -> None:
    left = decide(name, number)
    assert (left.policy, left.shared) == ("relist_only", True)
    assert "not known" in left.reason
    assert "--join-shared-stream" in left.reason
    joined = decide(name, number, join_shared_stream=True)
    assert (joined.policy, joined.shared) == ("join", True)


@given(st.text(), st.text(), st.booleans())
def test_hostile_names_give_a_bounded_reason(name: str, number: str, flag: bool) -> None:
    made = decide(name, number, join_shared_stream=flag)
    assert len(made.reason) < 500
    assert made.policy in ("join", "relist_only")


# Asking


async def test_asks_version_only(client: CriClient, runtime: FakeRuntime, clock: RealClock) -> None:
    runtime.answers["Version"] = version("cri-o", "1.37.0")
    found = await probe(client, "unix:///x", clock)
    assert runtime.methods() == ["Version"]
    assert (found.seen.name, found.seen.version) == ("cri-o", "1.37.0")
    assert (found.seen.api_version, found.seen.endpoint) == ("v1", "unix:///x")
    assert (found.seen.policy, found.shared) == ("join", False)


async def test_the_flag_is_heeded(
    client: CriClient, runtime: FakeRuntime, clock: RealClock
) -> None:
    runtime.answers["Version"] = version("containerd", "1.7.24~ds1")
    assert (await probe(client, "e", clock)).seen.policy == "relist_only"
    found = await probe(client, "e", clock, join_shared_stream=True)
    assert (found.seen.policy, found.shared) == ("join", True)


async def test_a_hostile_answer_is_bounded(
    client: CriClient, runtime: FakeRuntime, clock: RealClock
) -> None:
    runtime.answers["Version"] = version("n" * 100_000, "v" * 100_000)
    found = await probe(client, "e", clock)
    assert len(found.seen.name) == len(found.seen.version) == 256
    assert len(found.seen.reason) < 500


async def unusable(
    address: str,
    clock: RealClock,
    error: type[RuntimeUnusable] = RuntimeUnusable,
    version_s: float = 3.0,
) -> str:
    async with CriClient(address, clock, Deadlines(version=version_s)) as client:
        with pytest.raises(RuntimeUnusable) as raised:
            await probe(client, address, clock)
    assert type(raised.value) is error
    text = str(raised.value)
    assert address in text
    assert text.endswith((".", "`."))
    return text


async def test_a_socket_that_is_not_there(socket_dir: Path, clock: RealClock) -> None:
    assert "No runtime listens" in await unusable(f"unix://{socket_dir}/c.sock", clock)


async def test_a_socket_that_nobody_listens_on(socket_dir: Path, clock: RealClock) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(socket_dir / "c.sock"))
    assert "No runtime listens" in await unusable(f"unix://{socket_dir}/c.sock", clock)


async def test_a_runtime_that_hangs(socket_dir: Path, clock: RealClock) -> None:
    # The kernel accepts; nobody ever answers: as a runtime under SIGSTOP.
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(socket_dir / "c.sock"))
        bound.listen()
        text = await unusable(f"unix://{socket_dir}/c.sock", clock, RuntimeSilent, version_s=0.1)
    assert "did not answer within 0.1 s" in text
    assert "crictl version" in text


@pytest.mark.parametrize(
    "first_words", [b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", b"SSH-2.0-x\r\n", b""]
)
async def test_something_that_is_no_grpc(
    socket_dir: Path, clock: RealClock, first_words: bytes
) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if first_words:
            await reader.read(1)
            writer.write(first_words)
        writer.close()

    server = await asyncio.start_unix_server(talk, socket_dir / "c.sock")
    async with server:
        text = await unusable(f"unix://{socket_dir}/c.sock", clock)
    assert "does not speak gRPC" in text
    assert "docker.sock" in text


@pytest.mark.parametrize(
    ("code", "said"),
    [
        # containerd with its CRI plugin disabled, as Docker's packages ship it; or v1alpha2 only.
        (grpc.StatusCode.UNIMPLEMENTED, "disabled_plugins"),
        (grpc.StatusCode.UNAVAILABLE, "does not speak gRPC, or closes"),
        (grpc.StatusCode.INTERNAL, "INTERNAL: broken"),
    ],
)
async def test_a_runtime_that_refuses(
    runtime: FakeRuntime, clock: RealClock, code: grpc.StatusCode, said: str
) -> None:
    runtime.answers["Version"] = Refuse(code, "broken")
    text = await unusable(runtime.address, clock)
    assert said in text
    assert "broken" in text


async def test_no_permission(runtime: FakeRuntime, clock: RealClock) -> None:
    runtime.answers["Version"] = Refuse(
        grpc.StatusCode.UNAVAILABLE, "connect failed: Permission denied"
    )
    assert "sudo" in await unusable(runtime.address, clock)

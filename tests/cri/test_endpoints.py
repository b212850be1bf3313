"""Finding the socket the way crictl does, and saying what is wrong with one."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from app.cri.endpoints import MAX_PATH, WELL_KNOWN, Endpoint, find_endpoint, parse_endpoint
from app.errors import EndpointError


class Node:
    """A directory that plays the node's file system."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.config = directory / "crictl.yaml"
        self.environment: dict[str, str] = {}
        self.forbidden: set[Path] = set()
        self._listening: list[socket.socket] = []

    def listen(self, name: str) -> Path:
        path = self.directory / name
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(path))
        server.listen()
        self._listening.append(server)
        return path

    def abandon(self, name: str) -> Path:
        """A socket file that has outlived its runtime."""
        path = self.listen(name)
        self._listening.pop().close()
        return path

    def find(self, flag: str = "", well_known: Mapping[str, str] | None = None) -> Endpoint:
        known = tuple((name, self.directory / path) for name, path in (well_known or {}).items())
        return find_endpoint(
            flag,
            environment=self.environment,
            config_file=self.config,
            well_known=known,
            may_use=lambda path: path not in self.forbidden,
        )

    def close(self) -> None:
        for server in self._listening:
            server.close()


@pytest.fixture
def node(socket_dir: Path) -> Iterator[Node]:
    made = Node(socket_dir)
    yield made
    made.close()


# Which one is taken


def test_the_flag_comes_first(node: Node) -> None:
    flag, env = node.listen("flag.sock"), node.listen("env.sock")
    node.environment["CONTAINER_RUNTIME_ENDPOINT"] = f"unix://{env}"
    found = node.find(f"unix://{flag}")
    assert (found.path, found.reason) == (flag, "given by --runtime-endpoint")
    assert found.address == f"unix://{flag}"


def test_then_the_environment(node: Node) -> None:
    env, conf = node.listen("env.sock"), node.listen("conf.sock")
    node.environment["CONTAINER_RUNTIME_ENDPOINT"] = str(env)
    node.config.write_text(f"runtime-endpoint: unix://{conf}\n")
    found = node.find()
    assert (found.path, found.reason) == (env, "given by CONTAINER_RUNTIME_ENDPOINT")


def test_then_crictls_file(node: Node) -> None:
    conf = node.listen("conf.sock")
    node.listen("c.sock")
    node.config.write_text(f"runtime-endpoint: unix://{conf}\n")
    found = node.find(well_known={"containerd": "c.sock"})
    assert (found.path, found.reason) == (conf, f"runtime-endpoint in {node.config}")


def test_the_file_may_be_named_by_the_environment(node: Node) -> None:
    conf = node.listen("conf.sock")
    other = node.directory / "other.yaml"
    other.write_text(f"runtime-endpoint: {conf}\n")
    node.environment["CRI_CONFIG_FILE"] = str(other)
    assert node.find().path == conf


def test_then_the_first_well_known_socket(node: Node) -> None:
    crio = node.listen("crio.sock")
    node.listen("k3s.sock")
    found = node.find(well_known={"containerd": "c.sock", "CRI-O": "crio.sock", "k3s": "k3s.sock"})
    assert (found.path, found.reason) == (crio, "the well-known socket of CRI-O")


def test_a_well_known_socket_without_a_runtime_is_passed_over(node: Node) -> None:
    node.abandon("c.sock")
    crio = node.listen("crio.sock")
    assert node.find(well_known={"containerd": "c.sock", "CRI-O": "crio.sock"}).path == crio


def test_a_well_known_socket_without_permission_is_passed_over(node: Node) -> None:
    node.forbidden.add(node.listen("c.sock"))
    crio = node.listen("crio.sock")
    assert node.find(well_known={"containerd": "c.sock", "CRI-O": "crio.sock"}).path == crio


def test_the_well_known_sockets() -> None:
    paths = [str(path) for _, path in WELL_KNOWN]
    assert paths[:4] == [
        "/run/containerd/containerd.sock",
        "/run/crio/crio.sock",
        "/run/k3s/containerd/containerd.sock",
        "/run/cri-dockerd.sock",
    ]
    assert "/var/run/cri-dockerd.sock" in paths


def test_the_real_environment_is_the_default(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    path = node.listen("env.sock")
    monkeypatch.setenv("CONTAINER_RUNTIME_ENDPOINT", str(path))
    assert find_endpoint().path == path


# What is wrong with one


def refusal(node: Node, flag: str = "", **options: Any) -> str:
    with pytest.raises(EndpointError) as raised:
        node.find(flag, **options)
    text = str(raised.value)
    assert text.endswith((".", "`."))
    return text


def test_none_at_all(node: Node) -> None:
    text = refusal(node, well_known={"containerd": "c.sock", "CRI-O": "crio.sock"})
    assert "containerd, CRI-O" in text
    assert "--runtime-endpoint" in text
    assert "plegscope demo" in text


def test_only_an_abandoned_one(node: Node) -> None:
    path = node.abandon("c.sock")
    text = refusal(node, well_known={"containerd": "c.sock"})
    assert str(path) in text
    assert "Start the runtime" in text


def test_only_a_forbidden_one(node: Node) -> None:
    path = node.listen("c.sock")
    node.forbidden.add(path)
    text = refusal(node, well_known={"containerd": "c.sock"})
    assert str(path) in text
    assert "sudo" in text
    assert "group" in text


def test_a_given_one_that_is_not_there(node: Node) -> None:
    text = refusal(node, f"unix://{node.directory}/no.sock")
    assert "There is no socket" in text
    assert "given by --runtime-endpoint" in text


def test_a_given_one_below_a_file(node: Node) -> None:
    node.config.write_text("")
    assert "There is no socket" in refusal(node, f"{node.config}/no.sock")


def test_a_given_one_that_is_no_socket(node: Node) -> None:
    node.config.write_text("")
    assert "is not a socket" in refusal(node, str(node.config))


def test_a_given_one_without_permission(node: Node) -> None:
    path = node.listen("c.sock")
    node.forbidden.add(path)
    text = refusal(node, str(path))
    assert "may not connect" in text
    assert "sudo" in text


def test_one_that_may_not_even_be_looked_at(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(self: Path, **_: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", forbidden)
    assert "may not look at" in refusal(node, "/run/x/c.sock")


def test_another_error_of_the_file_system(node: Node) -> None:
    loop = node.directory / "loop"
    loop.symlink_to(loop)
    assert "cannot be used" in refusal(node, str(loop))


@pytest.mark.parametrize("text", ["tcp://127.0.0.1:1", "npipe:////./pipe/x", "http://x/unix.sock"])
def test_only_sockets_of_this_machine(text: str) -> None:
    with pytest.raises(EndpointError, match="on this machine only"):
        parse_endpoint(text)


@pytest.mark.parametrize("text", ["unix://", "unix:", "  ", "unix://c.sock", "/run/\0.sock"])
def test_what_names_no_socket(text: str) -> None:
    with pytest.raises(EndpointError, match="names no socket"):
        parse_endpoint(text)


def test_too_long_a_path() -> None:
    longest = "/" + "x" * (MAX_PATH - 1)
    assert str(parse_endpoint(longest)) == longest
    with pytest.raises(EndpointError, match="107 bytes"):
        parse_endpoint(longest + "x")


def test_a_relative_path_is_taken_from_here(monkeypatch: pytest.MonkeyPatch, node: Node) -> None:
    monkeypatch.chdir(node.directory)
    assert parse_endpoint("c.sock") == node.directory / "c.sock"


@pytest.mark.parametrize("text", ["unix:///run/c.sock", "unix:/run/c.sock", " /run/c.sock\n"])
def test_ways_to_write_a_path(text: str) -> None:
    assert str(parse_endpoint(text)) == "/run/c.sock"


def test_a_hostile_name_does_not_reach_the_terminal() -> None:
    with pytest.raises(EndpointError) as raised:
        parse_endpoint("tcp://\x1b[31mred" + "y" * 1000)
    assert "\x1b" not in str(raised.value)
    assert len(str(raised.value)) < 600


def test_characters_that_mean_something_in_an_address(node: Node) -> None:
    path = node.listen("a b%25#?.sock")
    assert node.find(str(path)).address.endswith("/a%20b%2525%23%3F.sock")


# crictl's file


@pytest.mark.parametrize(
    "line",
    [
        "runtime-endpoint: {}",
        'runtime-endpoint: "{}"',
        "runtime-endpoint: '{}'  # ours",
        "runtime-endpoint:   {} # ours",
        "runtime-endpoint : {}",
    ],
)
def test_ways_to_write_the_key(node: Node, line: str) -> None:
    path = node.listen("c.sock")
    node.config.write_text(
        f"# crictl\nimage-endpoint: unix:///i\n{line.format(path)}\ntimeout: 2\n"
    )
    assert node.find().path == path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "runtime-endpoint:\n",
        'runtime-endpoint: ""\n',
        "# runtime-endpoint: unix:///x\n",
        "other:\n  runtime-endpoint: unix:///x\n",
        "\x00\xff\n",
        "runtime-endpoint" * 10_000,
    ],
)
def test_a_file_that_says_nothing(node: Node, text: str) -> None:
    path = node.listen("c.sock")
    node.config.write_text(text)
    assert node.find(well_known={"containerd": "c.sock"}).path == path


def test_a_huge_file_is_not_read_whole(node: Node) -> None:
    path = node.listen("c.sock")
    node.config.write_text("#" * 100_000 + "\nruntime-endpoint: unix:///late.sock\n")
    assert node.find(well_known={"containerd": "c.sock"}).path == path


def test_a_missing_file_matters_only_when_it_was_named(node: Node) -> None:
    path = node.listen("c.sock")
    assert node.find(well_known={"containerd": "c.sock"}).path == path
    for name in (f"{node.directory}/none.yaml", "\0"):
        node.environment["CRI_CONFIG_FILE"] = name
        assert "CRI_CONFIG_FILE" in refusal(node, well_known={"containerd": "c.sock"})


def test_a_hostile_file_does_not_reach_the_terminal(node: Node) -> None:
    node.config.write_text("runtime-endpoint: tcp://\x1b[2J\n")
    assert "\x1b" not in refusal(node)


def test_a_relative_path_from_a_directory_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(EndpointError, match=r"cri.sock cannot be found .* Give the whole path"):
        parse_endpoint("cri.sock")

"""Who may come in: hosts, origins, token, cookie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import SettingsError
from app.web.access import Access, access, is_loopback, new_token, same_origin

TOKEN = "a-token-of-this-start"


def rules(host: str = "127.0.0.1", port: int = 7780, *extra: str) -> Access:
    return access(host, port, token=TOKEN, allow_hosts=extra)


# --------------------------------------------------------------------------------------- hosts


@pytest.mark.parametrize("host", ["127.0.0.1:7780", "localhost:7780", "[::1]:7780"])
def test_loopback_names_with_the_real_port_are_served(host: str) -> None:
    assert rules().serves(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "localhost",
        "127.0.0.1",
        "localhost:7781",
        "localhost:77800",
        "localhost:7780:7780",
        "localhost.:7780",
        "evil.example:7780",
        "localhost.evil.example:7780",
        "127.0.0.1.evil.example:7780",
        "evil.example",
        "127.0.0.2:7780",
        "2130706433:7780",
        "0x7f.1:7780",
        "0.0.0.0:7780",
        "::1:7780",
        "[::ffff:127.0.0.1]:7780",
        "user@localhost:7780",
        "localhost:7780/",
        " localhost:7780",
        "localhost:7780, evil.example",
        "10.0.0.5:7780",
    ],
)
def test_any_other_host_is_not(host: str) -> None:
    assert not rules().serves(host)


def test_on_port_80_browsers_leave_the_port_out() -> None:
    assert rules(port=80).serves("localhost")
    assert rules(port=80).serves("localhost:80")


def test_the_address_that_is_listened_on_is_served() -> None:
    assert rules("10.0.0.5").serves("10.0.0.5:7780")
    assert rules("fd00::5").serves("[fd00::5]:7780")
    assert rules("Node-1.Example").serves("node-1.example:7780")
    assert not rules("10.0.0.5").serves("10.0.0.6:7780")


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_on_every_address_any_ip_address_is_served_but_no_name(host: str) -> None:
    everywhere = rules(host)
    assert everywhere.serves("10.1.2.3:7780")
    assert everywhere.serves("[fd00::5]:7780")
    assert everywhere.serves("localhost:7780")
    for other in ("evil.example:7780", "10.1.2.3:80", "10.1.2.3", "fd00::5:7780", "[x]:7780"):
        assert not everywhere.serves(other)


def test_further_names_are_served_with_the_port_or_none() -> None:
    extra = rules("127.0.0.1", 7780, "Node-1.Example")
    assert extra.serves("node-1.example:7780")
    assert extra.serves("node-1.example")
    assert not extra.serves("node-1.example:9000")
    assert not extra.serves("x.node-1.example")


def test_a_further_name_with_a_port_is_served_with_exactly_that() -> None:
    extra = rules("127.0.0.1", 7780, "localhost:9000", "[::1]:9001")
    assert extra.serves("localhost:9000")
    assert extra.serves("[::1]:9001")
    assert not extra.serves("localhost:9001")


@pytest.mark.parametrize(
    "name", ["", "*", "a b", "http://x", "x/y", "x:y", "x:123456", "ü.example", "x\r\ny", "a,b"]
)
def test_what_can_be_no_host_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(SettingsError, match="give --allow-host a name"):
        rules("127.0.0.1", 7780, name)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "LOCALHOST"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)
    assert access(host, 1, token=None).token is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "node-1", "", "localhost.example"])
def test_where_others_reach_a_token_is_mandatory(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(SettingsError, match="a token is needed"):
        access(host, 7780, token=None)


# -------------------------------------------------------------------------------------- origins


@pytest.mark.parametrize("origin", ["http://localhost:7780", "https://localhost:7780"])
def test_the_same_host_is_the_same_origin(origin: str) -> None:
    assert same_origin(origin, "localhost:7780")


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "localhost:7780",
        "http://localhost",
        "http://localhost:7781",
        "http://127.0.0.1:7780",
        "http://localhost:7780.evil.example",
        "http://localhost:7780/",
        "ftp://localhost:7780",
        "http://evil.example#http://localhost:7780",
    ],
)
def test_anything_else_is_another_origin(origin: str) -> None:
    assert not same_origin(origin, "localhost:7780")


# ---------------------------------------------------------------------------------------- token


def bearer(value: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", value.encode())]


def cookie(value: str) -> list[tuple[bytes, bytes]]:
    return [(b"cookie", value.encode())]


def test_tokens_are_long_and_different() -> None:
    tokens = {new_token() for _ in range(50)}
    assert len(tokens) == 50
    assert all(len(token) >= 32 for token in tokens)


@pytest.mark.parametrize("value", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER  {TOKEN} "])
def test_a_bearer_with_the_token_is_admitted(value: str) -> None:
    assert rules().admits(bearer(value))


@pytest.mark.parametrize(
    "value",
    ["", TOKEN, "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"],
)
def test_any_other_bearer_is_not(value: str) -> None:
    assert not rules().admits(bearer(value))


def test_the_cookie_is_admitted_among_others_and_names_the_port() -> None:
    mine = rules()
    pair = f"{mine.cookie_name}={mine.cookie_value}"
    assert "7780" in mine.cookie_name
    assert mine.admits(cookie(pair))
    assert mine.admits(cookie(f"a=b; {pair};c=d"))
    assert mine.admits([(b"cookie", b"a=b"), (b"cookie", pair.encode())])


def test_the_cookie_is_not_the_token_and_not_another_starts() -> None:
    mine, other = rules(), access("127.0.0.1", 7780, token="another")
    assert TOKEN not in mine.cookie_value
    assert mine.cookie_value != other.cookie_value
    assert not mine.admits(cookie(f"{other.cookie_name}={other.cookie_value}"))
    assert not mine.admits(cookie(f"{mine.cookie_name}={TOKEN}"))
    assert not mine.admits(bearer(f"Bearer {mine.cookie_value}"))


@pytest.mark.parametrize("name", ["plegscope_7781", "plegscope", "Plegscope_7780", ""])
def test_a_cookie_of_another_name_is_not_looked_at(name: str) -> None:
    assert not rules().admits(cookie(f"{name}={rules().cookie_value}"))


def test_nothing_at_all_is_not_admitted() -> None:
    assert not rules().admits([])


def test_without_a_token_everybody_is_admitted_but_nobody_has_one() -> None:
    open_house = access("127.0.0.1", 7780, token=None)
    assert open_house.admits([])
    assert not open_house.is_token("")
    assert not open_house.has_bearer(bearer("Bearer "))
    assert not open_house.has_cookie(cookie(f"{open_house.cookie_name}={open_house.cookie_value}"))


@given(st.text(max_size=60), st.binary(max_size=60))
def test_whatever_is_sent_is_answered_with_no(text: str, raw: bytes) -> None:
    mine = rules()
    assert not mine.is_token(text)
    assert not mine.admits([(b"authorization", b"Bearer " + raw), (b"cookie", raw)])
    assert not mine.serves(text)

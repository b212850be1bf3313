"""The pages as a browser gets them, without one: what is in them, and what must never be."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from fastapi import FastAPI

from app.engine.model import ContainerStatus
from app.engine.profiles import PROFILES
from app.engine.records import AnyRecord, Lifecycle, RuntimeSeen
from app.engine.state import EngineState, HealthState, QueueState, StreamView
from app.hub.wire import Cost, PodRow, Recorded, SessionState
from app.resources import static_dir, templates_dir
from app.web.filters import curly
from app.web.pages import PageData, Pages, StageLink
from tests.build import stop_event
from tests.web.scripts import brought_in, missing

S = 1_000_000_000
WALL = 1_795_962_760_123_000_000
HOSTILE = "<script>alert(1)</script>\"'{{ 7 * 7 }}"
STATIC = static_dir()
NBSP = "\N{NO-BREAK SPACE}"

VOID = {"meta", "link", "input", "br", "img", "hr"}
SVG_VOID = {"path", "circle", "rect", "use"}


class Page(HTMLParser):
    """A page taken apart: tags with their attributes, and whether it is well formed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self._inside_script = False
        self.feed(html)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"an attribute came twice in <{tag}>"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SVG_VOID | VOID, f"<{tag}/> is not closed by its slash in HTML"
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        opened = self._open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def words(self) -> str:
        """The text, white space as one blank."""
        return re.sub(r"\s+", " ", self.text).strip()

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Attributes of every such tag."""
        return [attrs for name, attrs in self.tags if name == tag]


def session(profile: str = "kep", **more: Any) -> SessionState:
    engine = EngineState(
        t=90 * S,
        profile=profile,
        period_ns=S,
        pace_ns=S,
        health=HealthState(True, "", 89 * S, 180 * S, None),
        stream=StreamView("connected", 0, "Hints come.", "join"),
        queue=QueueState(0, 200, 0, 0),
        running=None,
        last_global=None,
        next_global_t=None,
        pods=2,
        containers=3,
        events={},
        requests={},
        stream_events={},
    )
    runtime = RuntimeSeen(
        t=0,
        wall=WALL,
        name="containerd",
        version="2.1.4",
        api_version="v1",
        endpoint="unix:///x",
        policy="join",
        reason="Every subscriber gets every event.",
    )
    facts: dict[str, Any] = {
        "session": "s",
        "title": "containerd on host-1",
        "simulated": False,
        "endpoint": "unix:///run/containerd/containerd.sock",
        "endpoint_reason": "the first well-known socket that is there",
        "wall": WALL,
        "engine": engine,
        "cost": Cost(0.0061, 2.1, 38_000, 61 << 20),
        "runtime": runtime,
        "oldest_call": None,
        "viewers": 1,
        "first_seq": 1,
        "last_seq": 40,
    }
    return SessionState(**(facts | more))


def pod(uid: str, **more: Any) -> PodRow:
    facts: dict[str, Any] = {
        "uid": uid,
        "name": f"pod-{uid}",
        "namespace": "shop",
        "seen_t": 0,
        "gone_t": None,
        "last_t": 5,
        "running": 1,
    }
    return PodRow(**(facts | more))


def container(**more: Any) -> ContainerStatus:
    facts: dict[str, Any] = {
        "id": "c" * 64,
        "name": "main",
        "attempt": 3,
        "runtime_state": "exited",
        "created_at": WALL,
        "started_at": WALL,
        "finished_at": WALL + 252 * S,
        "exit_code": 137,
        "reason": "OOMKilled",
        "message": "",
        "image": "registry.example/app:1",
    }
    return ContainerStatus(**(facts | more))


def died(uid: str, **more: Any) -> Lifecycle:
    facts: dict[str, Any] = {
        "t": 5 * S,
        "wall": WALL,
        "type": "ContainerDied",
        "uid": uid,
        "container_id": "c" * 64,
        "container_name": "main",
        "is_sandbox": False,
        "old_state": "running",
        "new_state": "exited",
        "relist": 4,
        "source": "evented_pleg",
        "delivery": "sent",
        "after_ns": 6_300_000,
        "exit_code": 137,
        "reason": "OOMKilled",
    }
    return Lifecycle(**(facts | more))


@dataclasses.dataclass
class Node:
    """What the pages are told; tests change it."""

    state: SessionState = dataclasses.field(default_factory=session)
    pods: list[PodRow] = dataclasses.field(default_factory=list)
    records: list[AnyRecord] = dataclasses.field(default_factory=list)


class Browser:
    """Asks for pages."""

    def __init__(self, client: httpx.AsyncClient, pages: Pages, node: Node) -> None:
        self.client = client
        self.pages = pages
        self.node = node

    async def get(self, path: str, status: int = 200) -> Page:
        answer = await self.client.get(path)
        assert answer.status_code == status
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        return Page(answer.text)

    async def panel(self, path: str) -> Page:
        answer = await self.client.get(path, headers={"HX-Request": "true"})
        assert answer.status_code == 200
        return Page(answer.text)


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    node = Node()
    data = PageData(
        state=lambda: node.state,
        pods=lambda: node.pods,
        pod_records=lambda uid: [r for r in node.records if getattr(r, "uid", None) == uid],
    )
    pages = Pages(templates_dir(), data, version="1.2.3")
    app = FastAPI()
    app.include_router(pages.router())
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield Browser(client, pages, node)


PATHS = ("/", "/help", "/about", "/pods", "/pods/a")


@pytest.fixture
def furnished(browser: Browser) -> Browser:
    status = container(message="line one\nline two")
    browser.node.pods = [
        pod("a", containers=(status,), ips=("10.0.0.7",), error="it timed out"),
        pod("b", gone_t=7, name=HOSTILE, namespace=HOSTILE),
    ]
    browser.node.records = [
        died("a", seq=1),
        died("a", seq=2, source="global", delivery="discarded"),
    ]
    return browser


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_inline(furnished: Browser, path: str) -> None:
    """A strict policy allows no script, style or handler in the document."""
    page = await furnished.get(path)
    for tag, attrs in page.tags:
        assert tag != "style"
        assert "style" not in attrs, f"<{tag} style>"
        assert not [name for name in attrs if name.startswith(("on", "hx-on"))]
        if tag == "script":
            assert (attrs["src"] or "").startswith("/static/")


@pytest.mark.parametrize("path", PATHS)
async def test_ids_are_single_and_named_things_are_there(furnished: Browser, path: str) -> None:
    page = await furnished.get(path)
    ids = Counter(attrs["id"] for _, attrs in page.tags if attrs.get("id"))
    assert [name for name, n in ids.items() if n > 1] == []
    for _, attrs in page.tags:
        for name in ("aria-labelledby", "aria-describedby", "popovertarget", "for"):
            if attrs.get(name):
                assert attrs[name] in ids
        href = attrs.get("href") or ""
        if href.startswith("#"):
            assert href[1:] in ids
        target = attrs.get("hx-target")
        if target:
            assert target.removeprefix("#") in ids


@pytest.mark.parametrize("path", PATHS)
async def test_assets_are_there_and_carry_the_version(furnished: Browser, path: str) -> None:
    page = await furnished.get(path)
    found = 0
    for _, attrs in page.tags:
        for name in ("src", "href"):
            address = attrs.get(name) or ""
            if not address.startswith("/static/"):
                assert not address.startswith(("http:", "https:", "//")), "nothing from elsewhere"
                continue
            file, _, query = address.removeprefix("/static/").partition("?")
            assert (STATIC / file).is_file(), file
            assert query == "v=1.2.3"
            found += 1
    assert found >= 5


@pytest.mark.parametrize("path", PATHS)
async def test_each_page_has_one_heading_a_language_and_a_title(
    furnished: Browser, path: str
) -> None:
    page = await furnished.get(path)
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("h1")) == 1
    assert len(page.all("title")) == 1
    assert "main" in [attrs.get("id") for attrs in page.all("main")]


@pytest.mark.parametrize("path", PATHS[1:])
async def test_htmx_gets_the_inside_only(furnished: Browser, path: str) -> None:
    whole = await furnished.get(path)
    part = await furnished.panel(path)
    assert part.all("html") == part.all("script") == part.all("header") == []
    assert len(part.all("article")) == 1
    assert part.words in whole.words


async def test_nothing_is_cached_and_both_forms_are_told_apart(browser: Browser) -> None:
    answer = await browser.client.get("/about")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["vary"] == "HX-Request"


async def test_the_node_page_knows_where_its_records_come_from(browser: Browser) -> None:
    page = await browser.get("/")
    assert page.all("main")[0]["data-stream"] == "/ws"
    assert "containerd on host-1 · plegscope" in page.words


async def test_hostile_names_are_text(furnished: Browser) -> None:
    furnished.node.state = session(title=HOSTILE, endpoint=HOSTILE, endpoint_reason=HOSTILE)
    for path in ("/", "/about", "/pods", "/pods/b"):
        page = await furnished.get(path)
        assert "<script>alert(1)</script>" in page.text
        assert "{{ 7 * 7 }}" in page.text
        assert all(attrs.get("src") for attrs in page.all("script"))


UNSEEN = "\x1b[2J\u202egnp.exe\0\u200b\ufeff\u2066"


async def test_what_cannot_be_seen_or_turns_the_order_round_is_replaced(browser: Browser) -> None:
    status = container(name=UNSEEN, message=UNSEEN, image=UNSEEN, reason=UNSEEN)
    browser.node.pods = [pod("b" + UNSEEN, name=UNSEEN, namespace=UNSEEN, containers=(status,))]
    browser.node.state = session(title=UNSEEN, endpoint_reason=UNSEEN)
    listed = await browser.get("/pods")
    (link,) = [a["href"] or "" for a in listed.all("a") if "/pods/" in (a["href"] or "")]
    for page in (listed, await browser.get(link), await browser.get("/about")):
        assert "�[2J�gnp.exe����" in page.text
        assert not set(UNSEEN) & set(page.text) - set("[2Jgnp.exe")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("", "uid-1"),
        (" \t\u3000", "uid-1"),
        ("\u200b\u2060", "uid-1"),
        ("\u0301\u0301", "uid-1"),
        (".", "."),
    ],
)
async def test_a_name_without_a_letter_gives_way_to_the_uid(
    name: str, shown: str, browser: Browser
) -> None:
    browser.node.pods = [pod("uid-1", name=name)]
    rows = (await browser.get("/pods")).words
    assert f"Note {shown} shop" in rows
    assert (await browser.get("/pods/uid-1")).words.count(f"{shown} shop") == 1


async def test_a_pod_of_which_nothing_can_be_seen_still_has_a_link(browser: Browser) -> None:
    browser.node.pods = [pod("\u200b", name=" ")]
    assert "(a name that cannot be seen)" in (await browser.get("/pods")).text


async def test_a_pods_link_survives_any_uid(browser: Browser) -> None:
    odd = "a/b?c#d&e é"
    browser.node.pods = [pod(odd)]
    page = await browser.get("/pods")
    links = [a["href"] for a in page.all("a") if (a["href"] or "").startswith("/pods/")]
    assert links == ["/pods/a%2Fb%3Fc%23d%26e%20%C3%A9"]
    assert odd in (await browser.get(links[0] or "")).text


async def test_about_says_what_why_and_how_the_stream_is(browser: Browser) -> None:
    page = await browser.get("/about")
    for words in (
        "containerd on host-1, which says it is containerd 2.1.4",
        "unix:///run/containerd/containerd.sock",
        "the first well-known socket that is there",
        "joined: Every subscriber gets every event.",
        "every 1.0 s",
        "3 min since a global relist began",
        "0.6 % of a core, 2.1 runtime calls a second, 61 MB of memory, 1 viewer",
        "A shadow, read-only",
    ):
        assert words in page.words.replace(NBSP, " ")


async def test_about_says_where_it_records_and_what_keeps_it_from_it(browser: Browser) -> None:
    assert "Recordingoff" in (await browser.get("/about")).words
    recorded = Recorded(
        well=True, file="/state/<b>a.mcap", trouble="", bytes_total=20480, bytes_per_s=5.0,
        cpu=0.0012, cpu_ns=1, waiting=0, lost=0,
    )  # fmt: skip
    browser.node.state = session(recording=recorded)
    page = await browser.get("/about")
    assert "into /state/<b>a.mcap; 20 KiB so far, 0.12 % of a core, 0 lost" in page.words
    full = msgspec.structs.replace(recorded, well=False, trouble="No space left on device", lost=7)
    browser.node.state = session(recording=full)
    page = await browser.get("/about")
    assert "stopped: No space left on device; 20 KiB so far, 0.12 % of a core, 7 lost" in page.words
    browser.node.state = session(ended=True)
    assert "Recordingoff" not in (await browser.get("/about")).words


async def test_about_before_the_runtime_has_answered(browser: Browser) -> None:
    browser.node.state = session(runtime=None)
    assert "has not said yet what it is" in (await browser.get("/about")).words


async def test_pods_present_before_gone(furnished: Browser) -> None:
    page = await furnished.get("/pods")
    assert page.words.index("pod-a") < page.words.index("gone")
    assert "1 on this node" in page.words


async def test_an_empty_node_is_said(browser: Browser) -> None:
    assert "No pods on this node." in (await browser.get("/pods")).words


async def test_a_pods_story(furnished: Browser) -> None:
    page = await furnished.get("/pods/a")
    words = page.words.replace(NBSP, " ")
    for piece in (
        "pod-a",
        "restart 3",
        "exited, exit 137: killed by SIGKILL: out of memory",
        "ran 4 min 12 s",
        "reason OOMKilled",
        "line one line two",
        "The last inspection failed and is tried again: it timed out",
        "ContainerDied of main, found by a hint, 6.3 ms after the stop event; exit 137",
        "discarded, because the event channel was full",
    ):
        assert piece in words
    assert words.index("found by the global relist") < words.index("found by a hint")


async def test_a_long_story_says_that_it_is_cut(browser: Browser) -> None:
    browser.node.pods = [pod("a")]
    browser.node.records = [died("a") for _ in range(64)]
    page = await browser.get("/pods/a")
    assert page.words.count("ContainerDied of main") == 50
    assert "14 older ones are in the journal." in page.words


async def test_no_such_pod(browser: Browser) -> None:
    assert "There is no such page here." in (await browser.get("/pods/x", 404)).words


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "This page needs the address with its token."),
        (403, "This request was refused."),
        (404, "There is no such page here."),
        (405, "There is no such page here."),
        (500, "plegscope made a mistake with this page."),
        (503, "plegscope made a mistake with this page."),
    ],
)
def test_errors_are_sentences_that_say_what_next(browser: Browser, status: int, words: str) -> None:
    answer = browser.pages.error(status)
    page = Page(bytes(answer.body).decode())
    assert answer.status_code == status
    assert words in page.words
    assert str(status) in page.words
    assert [a["href"] for a in page.all("a") if a.get("class") == "button"] == ["/"]


async def test_help_explains_every_mark_of_the_legend(browser: Browser) -> None:
    page = await browser.get("/help")
    ids = {attrs.get("id") for _, attrs in page.tags}
    glyphs = re.findall(r'glyph: "([a-z-]+)"', (STATIC / "js/marks.js").read_text())
    assert len(glyphs) > 15
    assert [glyph for glyph in glyphs if f"mark-{glyph}" not in ids] == []


async def test_help_explains_every_state_that_links_to_it(browser: Browser) -> None:
    page = await browser.get("/help")
    ids = {attrs.get("id") for _, attrs in page.tags}
    states = re.findall(r'help\("([a-z-]+)"', (STATIC / "js/condition.js").read_text())
    assert len(states) > 8
    assert [state for state in states if state not in ids] == []


@pytest.mark.parametrize("simulated", [True, False])
@pytest.mark.parametrize("recordings", [True, False])
def test_help_speaks_of_what_there_is_and_leads_to_each_section(
    simulated: bool, recordings: bool
) -> None:
    data = PageData(state=session, pods=lambda: (), pod_records=lambda _uid: ())
    stage, desk = (StageLink(""), object()) if simulated else (None, None)
    pages = Pages(
        templates_dir(),
        data,
        version="1.2.3",
        stage=stage,
        desk=desk,  # type: ignore[arg-type]  # the page asks only whether there is one
        recordings=recordings,
        now=True,
    )
    html = pages.page("help.html", partial=False, state=session(), profile=None, profiles=())
    page = Page(bytes(html.body).decode())
    ids = {attrs.get("id") for _, attrs in page.tags}
    led = [str(attrs["href"]) for attrs in page.all("a")]
    assert [one for one in led if one.startswith("#") and one[1:] not in ids] == []
    assert {"recordings", "whatif"} <= ids if recordings else not {"recordings", "whatif"} & ids
    assert ("faults" in ids) == simulated
    assert ("Say what will happen before you see it" in page.words) == simulated
    assert ("What happened before" in page.words) == recordings


PARTLY = ("faults.js",)
"""Scripts for parts of the page that it does not always have."""


async def test_scripts_find_what_they_look_for(browser: Browser) -> None:
    page = await browser.get("/")
    ids = {str(attrs.get("id")) for _, attrs in page.tags}
    scripts = brought_in("node.js")
    assert len(scripts) > 20
    for script in scripts:
        if script.name not in PARTLY:
            assert missing(script, ids) == set(), script.name


def test_scripts_put_data_into_the_document_as_text_only() -> None:
    for script in (STATIC / "js").glob("*.js"):
        text = script.read_text()
        for danger in (".innerHTML", ".outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert danger not in text, f"{danger} in {script.name}"
        assert 'setAttribute("style"' not in text


def test_templates_stay_in_their_directory() -> None:
    names = {path.name for path in Path(templates_dir()).glob("*.html")}
    assert {"page.html", "partial.html", "node.html", "help.html", "error.html"} <= names


@pytest.mark.parametrize("name", PROFILES)
async def test_the_profile_in_force_is_named_and_explained(browser: Browser, name: str) -> None:
    profile = PROFILES[name]
    browser.node.state = session(profile=name)
    node = await browser.get("/")
    (label,) = [attrs for attrs in node.all("a") if attrs.get("id") == "profile"]
    assert label["href"] == "/about#profile"
    assert curly(profile.explanation) in str(label["title"])
    assert f"profile {name}" in node.words
    (main,) = node.all("main")
    assert main["data-hints"] == profile.hints
    about = await browser.get("/about")
    assert curly(profile.explanation) in about.words
    told = (await browser.get("/help")).words
    assert all(curly(each.explanation) in told for each in PROFILES.values())
    for words in (about.words, told):
        assert re.findall(r"[a-z]'\s?[a-z].{20}", words) == []
    assert f"{profile.title}, {profile.since} in force here" in told


async def test_a_profile_without_a_name_here_is_not_explained(browser: Browser) -> None:
    browser.node.state = session(profile="1.99")
    assert not [each for each in (await browser.get("/")).all("a") if each.get("id") == "profile"]
    assert "1.99" in (await browser.get("/about")).words
    assert "in force here" not in (await browser.get("/help")).words


async def test_a_pods_story_is_told_in_sentences(browser: Browser) -> None:
    alive = container(id="n", attempt=4, runtime_state="running", exit_code=None, reason="")
    browser.node.pods = [pod("a", containers=(alive, container(id="o")))]
    browser.node.state = session(wall=WALL + 120 * S)
    page = await browser.get("/pods/a")
    assert (
        "main runs for 2 min; it is restart 4, as the one before ended with exit 137: killed by "
        "SIGKILL: out of memory."
    ) in page.words.replace(NBSP, " ")


async def test_a_sandbox_that_is_gone_is_what_is_said_first(browser: Browser) -> None:
    alive = container(runtime_state="running", exit_code=None, reason="")
    browser.node.pods = [pod("a", containers=(alive,), sandbox_gone=True)]
    page = (await browser.get("/pods/a")).words
    assert page.index("sandbox is gone") < page.index("main runs")
    assert "a kubelet would make this pod anew" in (await browser.get("/pods")).words


async def test_behind_each_event_is_what_told_of_it_and_the_raw_records(browser: Browser) -> None:
    said = stop_event(3, "a")
    said = msgspec.structs.replace(said, seq=11, exit_code=137, reason=HOSTILE)
    browser.node.pods = [pod("a")]
    browser.node.records = [said, died("a", seq=12, event=3)]
    page = await browser.get("/pods/a")
    words = page.words.replace(NBSP, " ")
    assert f"The stop event carried exit 137, reason {HOSTILE}" in words
    assert "A claim: the relist looked for itself." in words
    assert "2 raw records" in words
    assert '"kind":"stream_event"' in page.text
    assert {"r-12"} <= {attrs.get("id") for attrs in page.all("li")}
    assert "/?select=12" in [attrs.get("href") for attrs in page.all("a")]


async def test_of_an_event_that_was_believed_no_relist_is_told(browser: Browser) -> None:
    browser.node.pods = [pod("a")]
    browser.node.records = [stop_event(3, "a"), died("a", seq=12, event=3, relist=0)]
    words = (await browser.get("/pods/a")).words
    assert "The stop event carried no exit code" in words
    assert "It was believed; no relist looked." in words


async def test_what_can_be_copied_is_a_link_without_scripts(furnished: Browser) -> None:
    page = await furnished.get("/pods/a")
    copies = {attrs["data-copy"]: attrs["href"] for attrs in page.all("a") if "data-copy" in attrs}
    assert set(copies) == {"content", "link"}
    first = next(attrs for attrs in page.all("a") if attrs.get("data-copy") == "content")
    assert first["href"] == "/api/v1/records?pod=a"
    assert f"/pods/a#c-{'c' * 64}" in [attrs["href"] for attrs in page.all("a")]
    assert f"c-{'c' * 64}" in [attrs.get("id") for attrs in page.all("li")]


def test_an_upgrade_under_a_session_changes_no_page_of_it(tmp_path: Path) -> None:
    """What is on the disk then may need filters and facts that this process does not have."""
    folder = tmp_path / "templates"
    shutil.copytree(templates_dir(), folder)
    data = PageData(state=session, pods=list, pod_records=lambda _uid: [])
    pages = Pages(folder, data, version="1.2.3")
    for template in folder.glob("*.html"):
        template.write_text("{{ 1 | a_filter_of_tomorrow }}")
    assert b"There is no such page here." in pages.error(404).body

"""Every state the node page can be in, played to a real browser: its words, and a picture kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.engine.records import (
    EventIgnored,
    EventRefused,
    Gap,
    Lifecycle,
    RelistFinished,
    RequestMade,
    StreamChanged,
)
from app.engine.state import HealthState, QueueState, RelistState, StreamView
from app.hub.wire import Batch, Bye, Lagging, Recorded
from tests.browser.chromium import heard, keep, listen, resize, until
from tests.browser.stage import MS, UNTIL, S, Stage, hung, runtime
from tests.browser.test_accessibility import NEWEST, faults
from tests.commands import Command, demo

HOSTILE = '<img src=x onerror="document.title=1">\N{RIGHT-TO-LEFT OVERRIDE}{{7*7}}'
NBSP = "\N{NO-BREAK SPACE}"


@pytest.fixture(scope="module")
def server() -> Iterator[Command]:
    """Serves the page; its WebSocket is never reached."""
    with demo() as command:
        command.address()
        yield command


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    faults: list[str] = []
    opened = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="dark")
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "console",
        lambda message: faults.append(message.text) if message.type == "error" else None,
    )
    yield opened
    opened.close()
    assert faults == []


@pytest.fixture
def stage(page: Page) -> Stage:
    return Stage(page)


def furnished(stage: Stage) -> None:
    """Two pods, a few relists, some chains in the last half minute."""
    for uid, name in (("a", "cart-7d9c6f5b8-4xk2p"), ("b", "redis-0")):
        stage.number(stage.pod(uid, name))
    for i in range(6):
        t = UNTIL - (31 - 4 * i) * S
        stage.number(
            RelistFinished(
                t=t, wall=stage.wall(t), relist=500 + i, scope="global", source="global",
                started=t - 7 * MS, duration_ns=7 * MS, ok=True, pods=2, containers=2 + i // 2,
            )
        )  # fmt: skip
        for record in stage.chain("ab"[i % 2], UNTIL - (30 - 4 * i) * S):
            stage.number(record)


def says(page: Page, words: str) -> None:
    sentence = page.locator("#sentence")
    expect(sentence).to_contain_text(re.compile(words.replace(" ", r"[\s]")))


def waits(page: Page) -> None:
    """The page is without a connection, and tries again only when somebody asks for it."""
    until(page, STOP_TRYING)


STOP_TRYING = "plegscope.source.due !== null && (clearTimeout(plegscope.source.timer), true)"
"""A try that comes by itself would be taken for the one that was asked for."""


def relisted(started: int, duration_ns: int) -> RelistState:
    """A global relist that came back."""
    return RelistState(900, "global", "global", started, None, duration_ns, True, 2, 2)


def health(**more: Any) -> Any:
    """HealthState at a session time."""

    def at(t: int) -> HealthState:
        facts: dict[str, Any] = {"healthy": True, "message": "", "last_start_t": t - 400 * MS,
                 "threshold_ns": 180 * S, "last_seen": None}  # fmt: skip
        facts |= {name: value(t) if callable(value) else value for name, value in more.items()}
        return HealthState(**facts)

    return at


STATES: dict[str, tuple[dict[str, Any], str, str, str, str]] = {
    # name: (facts, sentence, meaning, icon, what can be done)
    "healthy": (
        {},
        (
            r"Healthy\. The last global relist started \d+(\.\d)? s ago and took 6\.9 ms; "
            r"the limit is 3 min\."
        ),
        "",
        "ok",
        "",
    ),
    "starting": (
        {"health": health(healthy=False, last_start_t=None), "last_global": None},
        r"Starting\. No relist yet\.",
        "turns green by itself",
        "waiting",
        "Why this is not a fault",
    ),
    "unhealthy": (
        {"health": health(healthy=False, last_start_t=lambda t: t - 192 * S)},
        r"Unhealthy\. No relist began for 3 min [1-5]\d s\.",
        "the kubelet would say NotReady",
        "bad",
        "What to check first",
    ),
    "hung": (
        {
            "oldest_call": hung(47 * S),
            "health": health(last_start_t=lambda t: t - 47 * S),
            "running": lambda t: RelistState(900, "global", "global", t - 46 * S),
        },
        # The stops of the last half minute came on the stream meanwhile.
        r"Calls hang, events come\. Oldest call [4-9]\d s\.",
        "ListPodSandbox has not returned. Unhealthy in ",
        "warning",
        "What to check first",
    ),
    "silent": (
        {
            "oldest_call": hung(5 * S),
            "health": health(last_start_t=lambda t: t - 5 * S),
        },
        r"Runtime hung\. Oldest call \d+(\.\d)? s\.",
        "No stop event has come since",
        "warning",
        "What to check first",
    ),
    "slow": (
        {"last_global": lambda t: relisted(t - 400 * MS, 410 * MS)},
        r"Healthy, but slow\. Relists take 410 ms, 59× this node’s usual\.",
        "The limit is",
        "warning",
        "What this means",
    ),
    "recording-stopped": (
        {
            "recording": Recorded(
                well=False,
                file="",
                trouble="no space left on device",
                bytes_total=0,
                bytes_per_s=0,
                cpu=0,
                cpu_ns=0,
                waiting=0,
                lost=1204,
            )
        },
        r"Recording stopped\. No space left on device\.",
        "The page goes on, and recording when it can. 1,204 things",
        "warning",
        "Choose another place",
    ),
    "recorded": (
        {"ended": True},
        r"End of the recording\. It tells of",
        "What came after is not known.",
        "waiting",
        "What this means",
    ),
    "given-up": (
        {
            "profile": "legacy",
            "stream": lambda t: StreamView("closed", t - 27 * S, "", "join", code="eof"),
        },
        r"Stream given up \d+ s ago\.",
        "profile legacy does not open it again: only a restart does",
        "warning",
        "What this means",
    ),
    "stream-down": (
        {"stream": lambda t: StreamView("waiting", t - 6 * S, "It closed.", "join", 2, t + 4 * S)},
        r"Reconnecting\. Stream down for \d+\.?\d* s\.",
        "The global relist still finds every stop",
        "warning",
        "What this means",
    ),
    "polling": (
        {
            "stream": lambda t: StreamView(
                "waiting",
                0,
                "containerd 1.6 answers Unimplemented.",
                "join",
                1,
                t + 60 * S,
                "unimplemented",
            )
        },
        r"Polling only\. This runtime has no event stream\.",
        "PLEG is healthy: the last global relist",
        "waiting",
        "Which runtimes have one",
    ),
    "safety": (
        {
            "stream": StreamView("off", 0, "Left alone.", "relist_only"),
            "runtime": runtime(
                version="1.7.24", policy="relist_only", reason="containerd 1.7 shares one channel."
            ),
        },
        r"Polling only, for the node’s safety\.",
        "containerd 1.7 shares one channel.",
        "waiting",
        "What joining costs",
    ),
    "pace": (
        {"pace_ns": 4 * S},
        r"Healthy, slowed down\. A global relist every 4\.0 s instead of 1\.0 s\.",
        "The kubelet does not.",
        "warning",
        "What this means",
    ),
}


TOP = "document.querySelector('.stage').getBoundingClientRect().top"

#: What the walk looks like: the window's width, and the colours.
LOOKS = [(1280, "dark"), (390, "light"), (1280, "forced")]


#: Marks that do not stand out on the canvas (WCAG's 3:1), as it really paints the colours it was
#: given: names of system colours, where the system forces its own.
PALE = """() => {
  const canvas = document.body.appendChild(document.createElement("canvas"));
  const c = canvas.getContext("2d");
  const { palette } = plegscope.timeline.painter;
  const light = (name) => {
    c.fillStyle = palette[name];
    c.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...c.getImageData(0, 0, 1, 1).data].map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const ground = light("ground");
  const marks = ["said", "ask", "glob", "found", "late", "lost", "bad", "life", "focus", "text3"];
  const pale = marks.filter((name) => Math.max(light(name) / ground, ground / light(name)) < 3);
  canvas.remove();
  return pale;
}"""


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_every_state_is_said_and_shuts_nobody_out(
    browser: Browser, server: Command, width: int, scheme: str
) -> None:
    """One page goes through all of them: state, fact, meaning, one thing to do; axe on each."""
    colours: dict[str, Any] = (
        {"forced_colors": "active"} if scheme == "forced" else {"color_scheme": scheme}
    )
    context = browser.new_context(viewport={"width": width, "height": 844}, **colours)
    page = context.new_page()
    stage = Stage(page)
    furnished(stage)
    tops: dict[float, list[str]] = {}

    def look(name: str, sentence: str, icon: str, action: str) -> None:
        says(page, sentence)
        expect(page.locator("#state-icon use")).to_have_attribute("href", f"#g-{icon}")
        acts = page.locator("#meaning").get_by_text(action, exact=True)
        expect(acts).to_have_count(1)
        # Among other tabs the title is all that is seen.
        if icon in ("bad", "ok"):
            titled = "^Unhealthy · Simulated node" if icon == "bad" else "^Simulated node"
            expect(page).to_have_title(re.compile(titled))
        assert (name, faults(page)) == (name, [])
        keep(page, f"state-{name}-{scheme}-{width}")
        tops.setdefault(page.evaluate(TOP), []).append(name)
        for tab in ("timeline", "table", "more", "now") if width < 700 else ():
            page.locator(f".tabs [data-tab={tab}]").click()
            expect(acts).to_be_in_viewport(ratio=1)
            expect(page.locator("#sentence")).to_be_in_viewport(ratio=1)
            if name in ("gone", "empty"):
                assert (name, tab, faults(page)) == (name, tab, [])
                keep(page, f"state-{name}-{scheme}-{width}-{tab}")

    page.goto(server.address())
    if width < 700:
        page.locator(".tabs [data-tab=now]").click()
        expect(page.locator("#trend")).to_be_in_viewport()
    says(page, "Healthy")
    assert page.evaluate(PALE) == []
    for name, (facts, sentence, meaning, icon, action) in STATES.items():
        stage.facts = facts
        stage.say_state()
        expect(page.locator("#meaning")).to_contain_text(meaning)
        if action:
            look(name, sentence, icon, action)
        else:
            says(page, sentence)
    # A time that nobody recorded is told by a player alone, which is a page of its own.
    page.evaluate(f"""plegscope.take({{ type: "state", state: {{ ...plegscope.store.state,
        ended: false, unrecorded: {{ from: {UNTIL}, to: {UNTIL + 90 * S} }} }} }})""")
    look("unrecorded", r"Not recorded\. The recording before ended", "waiting", "What this means")
    stage.facts = {}
    stage.send(Lagging(214, 60))
    stage.send(stage.snapshot())
    # It is said for ten seconds, and looked at for longer.
    until(page, "plegscope.lagging && (plegscope.laggingUntil = Infinity)")
    look("lagging", r"You are lagging\. This page skipped", "warning", "What this means")
    page.evaluate("plegscope.laggingUntil = 0")
    stage.answers = False
    context.set_offline(True)
    stage.hang_up()
    look("offline", r"This browser is offline\. Last heard .*; next try in", "waiting", "Try now")
    context.set_offline(False)
    look("gone", r"plegscope is gone\. Last heard .*; next try in \d+ s\.", "waiting", "Try now")
    listen(page, "#spoken")
    waits(page)
    tries = len(stage.asked)
    page.keyboard.press("r")
    heard(page, "#spoken", "No answer yet. plegscope is gone.")
    assert len(stage.asked) > tries
    waits(page)
    page.get_by_role("button", name="Try now").focus()
    stage.answers = True
    stage.session, stage.records, stage.seq = "bare", [], 0
    tries = len(stage.asked)
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_have_attribute("data-link", "open")
    assert len(stage.asked) > tries
    heard(page, "#spoken", "Connected again. Healthy.")
    expect(page.locator("#meaning a")).to_be_focused()
    page.keyboard.press("r")
    heard(page, "#spoken", "Connected: there is nothing to try.")
    look("empty", r"Healthy\. No pods on this node\.", "ok", "What comes here")
    # A state that changes moves nothing under the pointer.
    assert width < 700 or len(tops) == 1, tops
    context.close()


def test_what_hangs_is_drawn_up_to_now(page: Page, stage: Stage, server: Command) -> None:
    furnished(stage)
    stage.facts = STATES["hung"][0]
    page.goto(server.address())
    says(page, "Calls hang, events come")
    until(
        page,
        "plegscope.timeline.list.rows.flat().some((i) => i.k === 'progress' && i.c === 'late')",
    )


def test_the_queue_has_a_row_while_it_is_long(page: Page, stage: Stage, server: Command) -> None:
    furnished(stage)
    page.goto(server.address())
    says(page, "Healthy")
    row = page.locator("#head-queue")
    expect(row).to_be_hidden()
    expect(page.locator("#counts")).to_contain_text(f"Queue{NBSP}0{NBSP}of{NBSP}200.")
    t = UNTIL - 6 * S
    for i, depth in enumerate([*range(1, 61), *range(59, -1, -1)]):
        at = t + i * 40 * MS
        stage.number(
            RequestMade(
                t=at, wall=stage.wall(at), request=1000 + i, uid="ab"[i % 2], source="post_sync",
                event=None, outcome="queued", depth=depth,
            )
        )  # fmt: skip
    stage.facts = {"queue": QueueState(37, 200, 2, 1)}
    stage.session = "busy"
    stage.hang_up()
    expect(row).to_be_visible()
    expect(row).to_contain_text("37 of 200")
    expect(page.locator("#counts")).to_contain_text(f"Queue{NBSP}37{NBSP}of{NBSP}200, 2{NBSP}held.")
    until(page, "plegscope.timeline.list.rows.flat().some((i) => i.k === 'queue')")
    top = "document.getElementById('{0}').getBoundingClientRect().top"
    down = f"{top.format('lanes')} - {top.format('plot')}"
    until(page, f"Math.abs({down} - plegscope.timeline.top) <= 1")
    keep(page, "state-queue")


def test_events_that_were_refused_or_believed_have_marks_and_words(
    page: Page, stage: Stage, server: Command
) -> None:
    furnished(stage)
    t = UNTIL - 8 * S
    stage.number(
        Lifecycle(
            t=t, wall=stage.wall(t), type="ContainerDied", uid="a", container_id="believed",
            container_name="cart", is_sandbox=False, old_state="running", new_state="exited",
            relist=0, source="evented_pleg", delivery="sent", exit_code=1,
        )
    )  # fmt: skip
    stage.number(
        EventRefused(
            t=t + S, wall=stage.wall(t + S), uid="a", type="stopped", container_id="refused",
            behind_ns=4 * MS,
        )
    )  # fmt: skip
    page.goto(server.address())
    says(page, "Healthy")
    expect(page.locator("#counts")).to_contain_text("1 told by an event that was believed")
    expect(page.locator("#legend [data-kind=event] b")).to_have_text("1")
    expect(page.locator("#legend [data-kind=ignored] b")).to_have_text("1")
    keep(page, "marks-of-belief")
    page.keyboard.press("t")
    rows = page.locator("#rows-body tr")
    expect(rows.filter(has_text="Refused event: stopped")).to_contain_text(f"4.0{NBSP}ms newer")
    expect(rows.filter(has_text="believed event")).to_contain_text("ContainerDied")


def test_an_empty_node(page: Page, stage: Stage, server: Command) -> None:
    page.goto(server.address())
    says(page, r"Healthy\. No pods on this node\.")
    expect(page.locator("#empty")).to_contain_text("there is nothing to find")
    keep(page, "state-empty")


def test_no_pod_matches_and_one_press_clears_the_filter(
    page: Page, stage: Stage, server: Command
) -> None:
    furnished(stage)
    page.goto(f"{server.address()}?filter=paymnts")
    empty = page.locator("#empty")
    expect(empty).to_contain_text("No pod matches “paymnts”. 2 pods are hidden by the filter.")
    keep(page, "state-no-match")
    resize(page, 390, 844)
    for tab in ("more", "table"):
        page.locator(f".tabs [data-tab={tab}]").click()
        told = page.locator("#unmatched")
        expect(told).to_contain_text("2 pods are hidden by the filter.")
        expect(told.get_by_role("button", name="Clear filter")).to_be_in_viewport(ratio=1)
        assert faults(page) == []
    keep(page, "state-no-match-390")
    page.locator(".tabs [data-tab=timeline]").click()
    expect(told).to_be_hidden()
    empty.get_by_role("button", name="Clear filter").click()
    expect(page.locator("#labels li.lane")).to_have_count(2)
    expect(page).not_to_have_url(re.compile("filter"))


def test_lagging_is_said_and_what_is_lost_is_a_gap(
    page: Page, stage: Stage, server: Command
) -> None:
    furnished(stage)
    page.goto(server.address())
    says(page, "Healthy")
    stage.seq += 214
    stage.send(Lagging(214, 214))
    stage.records = []
    for record in stage.chain("a", UNTIL + S):
        stage.number(record)
    stage.send(stage.snapshot())
    says(page, r"You are lagging\. This page skipped 214 records\.")
    expect(page.locator("#legend [data-kind=gap]")).to_be_visible()
    until(page, "plegscope.store.gaps.map((gap) => gap.count).join() === '214'")
    keep(page, "state-lagging")


def test_gone_then_back_with_what_was_missed(page: Page, stage: Stage, server: Command) -> None:
    furnished(stage)
    # The window stands still most of the time then; what has frozen is hatched all the same.
    page.emulate_media(reduced_motion="reduce")
    page.goto(server.address())
    says(page, "Healthy")
    known = stage.seq
    stage.answers = False
    stage.send(Bye("plegscope was told to end."))
    stage.hang_up()
    says(page, r"plegscope is gone\. Last heard \d+(\.\d)? s ago; next try in")
    until(page, "plegscope.timeline.painter.frame.frozen === 'frozen'", 2_000)
    expect(page.locator("#meaning")).to_contain_text("The picture is frozen, not live.")
    expect(page.locator("#meaning")).to_contain_text("plegscope was told to end.")
    keep(page, "state-gone")
    missed = [stage.number(record) for record in stage.chain("a", stage.t - S)]
    stage.answers = True
    expect(page.locator("#main")).to_have_attribute("data-link", "open")
    assert f"since={known}&session=stage" in stage.asked[-1]
    stage.send(Batch(known + 1, stage.seq, tuple(missed)))
    stage.say_state()
    says(page, "Healthy")
    until(page, f"plegscope.store.lastSeq === {stage.seq}")
    assert page.evaluate("plegscope.store.gaps.length") == 0


def test_started_anew_nothing_old_is_left(page: Page, stage: Stage, server: Command) -> None:
    furnished(stage)
    page.goto(server.address())
    expect(page.locator("#labels li.lane")).to_have_count(2)
    stage.session = "another"
    stage.records = []
    stage.seq = 0
    stage.number(stage.pod("z", "zebra-0"))
    stage.hang_up()
    expect(page.locator("#labels li.lane")).to_have_text(["zebra-0"])
    says(page, "Healthy")


def test_offline_is_told_apart_from_gone(page: Page, stage: Stage, server: Command) -> None:
    furnished(stage)
    page.goto(server.address())
    says(page, "Healthy")
    stage.answers = False
    page.context.set_offline(True)
    stage.hang_up()
    says(page, r"This browser is offline\.")
    keep(page, "state-offline")
    page.context.set_offline(False)
    stage.answers = True
    expect(page.locator("#main")).to_have_attribute("data-link", "open")


def test_marks_of_the_stream_row(page: Page, stage: Stage, server: Command) -> None:
    furnished(stage)
    t = UNTIL - 20 * S
    for record in (
        StreamChanged(t=t, wall=stage.wall(t), state="waiting", meaning="It closed.", code="eof"),
        StreamChanged(t=t + S, wall=stage.wall(t + S), state="connecting", meaning="Again."),
        StreamChanged(t=t + 7 * S, wall=stage.wall(t + 7 * S), state="connected", meaning="Up."),
        EventIgnored(
            t=t + 9 * S, wall=stage.wall(t + 9 * S), event=900, type="stopped", container_id="x",
            reason="missing_uid",
        ),
        Gap(
            t=t + 13 * S, wall=stage.wall(t + 13 * S), hop="journal", count=214,
            from_t=t + 11 * S, reason="The journal was full.",
        ),
    ):  # fmt: skip
        stage.number(record)
    page.goto(server.address())
    says(page, "Healthy")
    expect(page.locator("#legend [data-kind=ignored] b")).to_have_text("1")
    expect(page.locator("#legend [data-kind=gap] b")).to_have_text(f"2.0{NBSP}s")
    keep(page, "marks-of-the-stream")
    page.keyboard.press("t")
    rows = page.locator("#rows-body tr")
    expect(rows.filter(has_text="Ignored event")).to_contain_text("it names no pod")
    expect(rows.filter(has_text="Not known")).to_contain_text("214")


def test_the_table_has_all_rows_and_the_document_those_in_sight(
    page: Page, stage: Stage, server: Command
) -> None:
    stage.number(stage.pod("a", "cart-0"))
    for i in range(600):
        for record in stage.chain("a", UNTIL - (650 - i) * 100 * MS):
            stage.number(record)
    page.goto(f"{server.address()}?view=table")
    says(page, "Healthy")
    rows = page.locator("#rows-body tr")
    # A stop and a finding of each, and the pod.
    expect(page.locator("#table table")).to_have_attribute("aria-rowcount", "1202")
    until(page, "document.querySelectorAll('#rows-body tr').length > 100")
    assert rows.count() <= 250
    newest = rows.first.get_attribute("data-seq")
    rows.first.focus()
    page.keyboard.press("End")
    focused = page.locator("#rows-body tr:focus")
    expect(focused).to_have_attribute("aria-rowindex", "1202")
    expect(focused).to_contain_text("Pod seen")
    expect(focused).to_be_in_viewport()
    page.keyboard.press("ArrowUp")
    expect(focused).to_have_attribute("aria-rowindex", "1201")
    # By the scroll bar, to the middle of all: the rows there are there, and nothing moves.
    half = """() => {
      const box = document.getElementById("table-scroll");
      box.scrollTop = box.scrollHeight / 2;
    }"""
    page.evaluate(half)
    middle = page.locator("#rows-body tr[aria-rowindex='606']")
    expect(middle).to_be_in_viewport()
    place = """() => {
      const at = () => JSON.stringify(document.querySelector("#rows-body tr[aria-rowindex='606']")
        .getBoundingClientRect());
      const before = at();
      plegscope.table.key = "";
      plegscope.table.update();
      return [before, at()];
    }"""
    before, after = page.evaluate(place)
    assert after == before
    assert rows.count() <= 250
    assert faults(page) == []
    middle.click()
    expect(page.locator("#drawer")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("#table-scroll").focus()
    page.evaluate("document.getElementById('table-scroll').scrollTop = 0")
    expect(rows.first).to_have_attribute("data-seq", newest or "")


def test_hostile_names_stay_text(page: Page, stage: Stage, server: Command) -> None:
    stage.number(stage.pod("<b>", HOSTILE, namespace=HOSTILE))
    for record in stage.chain("<b>", UNTIL - 5 * S, name=HOSTILE):
        stage.number(record)
    stage.facts = {"title": HOSTILE, "endpoint": HOSTILE, "endpoint_reason": HOSTILE}
    page.goto(f"{server.address()}?group=namespace")
    says(page, "Healthy")
    expect(page.locator("#labels li.lane")).to_contain_text("<img src=x")
    until(page, NEWEST)
    drawer = page.locator("#drawer")
    expect(drawer).to_contain_text("<img src=x")
    expect(drawer).not_to_contain_text("\N{RIGHT-TO-LEFT OVERRIDE}")
    keep(page, "hostile-names")
    page.keyboard.press("t")
    expect(page.locator("#rows-body")).to_contain_text("<img src=x")
    assert page.locator("img").count() == 0
    assert page.title() != "1"
    assert "49" not in page.locator("#labels").inner_text()

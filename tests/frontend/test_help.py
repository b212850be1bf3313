"""The help page explains every mark, every state and every metric there is."""

from __future__ import annotations

import re

from app.resources import static_dir, templates_dir
from tests.metrics.busy import busy
from tests.metrics.scrape import types

HELP = (templates_dir() / "help.html").read_text("utf-8")
SPRITE = (templates_dir() / "sprite.html").read_text("utf-8")

#: Drawn beside words, or of a family whose first member is explained in the same words.
NO_MARKS = {"logo", "theme", "ok", "warning", "bad", "waiting", "quiet"}
FAMILIES = {
    "started-poll": "died-poll",
    "started-event": "died-event",
    "removed-event": "died-event",
    "died-calm": "removed-calm",
    "started-calm": "removed-calm",
    "sync-calm": "sync-req",
}


def script(name: str) -> str:
    return (static_dir() / "js" / name).read_text("utf-8")


def explained(macro: str) -> dict[str, str]:
    """What a macro of the page was called with: its first word, and the rest."""
    return dict(re.findall(rf"\{{\{{ {macro}\(\"([a-z-]+)\", (.+)\) \}}\}}", HELP))


def test_each_kind_of_the_legend_is_there() -> None:
    kinds = re.findall(r'\{ id: "([a-z]+)", glyph: "([a-z-]+)"', script("marks.js"))
    assert len(kinds) >= 20
    marks = explained("mark")
    for kind, glyph in kinds:
        assert glyph in marks, kind
        assert len(marks[glyph]) > 20, kind


def test_each_glyph_that_can_be_met_is_there() -> None:
    glyphs = set(re.findall(r'symbol id="g-([a-z-]+)"', SPRITE)) - NO_MARKS
    marks = explained("mark")
    assert {FAMILIES.get(glyph, glyph) for glyph in glyphs} <= set(marks)


def test_each_state_is_there_under_its_own_sign() -> None:
    told = re.findall(r'id: "([a-z-]+)", icon: "([a-z]+)"', script("condition.js"))
    assert len({state for state, _ in told}) >= 15
    states = explained("situation")
    for state, icon in told:
        assert states[state].startswith(f'"{icon}"'), state
    led_to = re.findall(r'(?:help|press)\("([a-z-]+)"', script("condition.js"))
    assert set(led_to) <= set(states)
    assert {"healthy", "empty", "no-match"} <= set(states)


def test_each_metric_is_there() -> None:
    named = set(types(busy().render()))
    assert len(named) >= 45
    assert {name for name in named if f"<code>{name}</code>" not in HELP} == set()


def test_what_the_page_links_to_is_on_it() -> None:
    places = set(re.findall(r'id="([a-z-]+)"', HELP)) | set(explained("situation"))
    for template in templates_dir().glob("*.html"):
        for place in re.findall(r'href="/help#([a-z-]+)"', template.read_text("utf-8")):
            assert place in places, (template.name, place)

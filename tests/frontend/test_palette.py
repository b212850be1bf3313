"""The colours of the marks can be told from their grounds and from each other, by everybody."""

from __future__ import annotations

import itertools
import math
import re

import pytest

from app.resources import static_dir

Rgb = tuple[float, float, float]
Matrix = tuple[Rgb, Rgb, Rgb]

TOKENS = (static_dir() / "css" / "tokens.css").read_text()
MARKS = ("said", "ask", "glob", "found", "late", "lost", "bad")
GROUNDS = ("ground", "page", "surface", "raised", "sel")

#: What lies between a mark and the canvas: SyncPod, the stream's tint, a global relist's band.
VEILS = ("sync", "tint", "band-wide")
#: What the canvas has besides marks: grounds, veils, hairlines, and words (tested as text).
NO_MARKS = {"page", "line", "line2", "text", "text2", "text3", "sync-edge", "ask-25", "band"}

CONTRAST_FLOOR = 3.0
TEXT_FLOOR = 4.5
DISTANCE_FLOOR = 25.0
DISTANCE_2000_FLOOR = 14.0

#: Machado, Oliveira, Fernandes 2009: severity 1, on linear RGB.
VISION: dict[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def scheme(selector: str) -> dict[str, str]:
    """Colours of the first block with this selector."""
    start = TOKENS.index(selector)
    block = TOKENS[start : TOKENS.index("}", start)]
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9A-Fa-f]{6})", block))


def veils(selector: str) -> dict[str, tuple[str, float]]:
    """Colours of that block that let something through: each, and how much of it there is."""
    start = TOKENS.index(selector)
    block = TOKENS[start : TOKENS.index("}", start)]
    found = re.findall(r"--([\w-]+):\s*rgb\((\d+) (\d+) (\d+) / ([\d.]+)%\)", block)
    return {
        name: (f"#{int(r):02X}{int(g):02X}{int(b):02X}", float(share) / 100)
        for name, r, g, b, share in found
    }


DARK = scheme(":root {")
LIGHT = scheme(':root[data-theme="light"] {')
SCHEMES = {"dark": DARK, "light": LIGHT}
OVERLAYS = {"dark": veils(":root {"), "light": veils(':root[data-theme="light"] {')}


def linear(color: str) -> Rgb:
    """Linear RGB, 0 to 1."""

    def channel(at: int) -> float:
        value = int(color[at : at + 2], 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    return channel(1), channel(3), channel(5)


def luminance(color: str) -> float:
    r, g, b = linear(color)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    """WCAG's ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def seen(color: str, vision: Matrix) -> Rgb:
    """Linear RGB as somebody sees it."""
    rgb = linear(color)
    r, g, b = (
        min(1.0, max(0.0, sum(a * c for a, c in zip(row, rgb, strict=True)))) for row in vision
    )
    return r, g, b


def lab(rgb: Rgb) -> Rgb:
    """CIE L*a*b*, D65."""
    r, g, b = rgb
    x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047
    y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b
    z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883

    def f(t: float) -> float:
        return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116

    return 116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))


def blend(veil: tuple[str, float], ground: str) -> str:
    """The ground as seen through a veil, mixed as a canvas mixes: in sRGB."""
    color, share = veil
    parts = [
        round(int(color[at : at + 2], 16) * share + int(ground[at : at + 2], 16) * (1 - share))
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02X}" for part in parts)


def ciede2000(one: Rgb, other: Rgb) -> float:
    """Distance of two L*a*b* colours after Sharma, Wu and Dalal 2005."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_c = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean_c**7 / (mean_c**7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    dl, dc = l2 - l1, c2 - c1
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    ml, mc = (l1 + l2) / 2, (c1 + c2) / 2
    mh = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    t = (
        1
        - 0.17 * math.cos(math.radians(mh - 30))
        + 0.24 * math.cos(math.radians(2 * mh))
        + 0.32 * math.cos(math.radians(3 * mh + 6))
        - 0.20 * math.cos(math.radians(4 * mh - 63))
    )
    sl = 1 + 0.015 * (ml - 50) ** 2 / math.sqrt(20 + (ml - 50) ** 2)
    sc, sh = 1 + 0.045 * mc, 1 + 0.015 * mc * t
    rc = 2 * math.sqrt(mc**7 / (mc**7 + 25**7))
    rt = -rc * math.sin(math.radians(60 * math.exp(-(((mh - 275) / 25) ** 2))))
    return math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * (dc / sc) * (dh / sh))


def test_the_distance_is_the_published_one() -> None:
    """Three of the pairs that were published with the formula."""
    for one, other, distance in (
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ):
        assert ciede2000(one, other) == pytest.approx(distance, abs=1e-4)


def test_every_colour_the_canvas_paints_with_is_looked_at_here() -> None:
    painted: set[str] = set()
    for name in ("painter", "sprites", "minimap"):
        text = (static_dir() / "js" / f"{name}.js").read_text()
        painted |= set(re.findall(r"\bp\.([a-z][a-z0-9]+)\b", text))
        painted |= set(re.findall(r'\bp\["([a-z0-9-]+)"\]', text))
    known = {*MARKS, *GROUNDS, *VEILS, *NO_MARKS, "focus", "life"}
    assert {name for name in painted if f"--{name}:" in TOKENS} <= known
    assert set(MARKS) <= painted


@pytest.mark.parametrize("name", SCHEMES)
def test_marks_stand_out_from_what_lies_under_them(name: str) -> None:
    colors, overlays = SCHEMES[name], OVERLAYS[name]
    for mark, veil in itertools.product(MARKS, VEILS):
        if mark == "glob" and veil == "band-wide":
            continue  # Its own band: the bar of a global relist is in a row of its own.
        under = blend(overlays[veil], colors["ground"])
        assert contrast(colors[mark], under) >= CONTRAST_FLOOR, f"{mark} on {veil}"


@pytest.mark.parametrize("name", SCHEMES)
def test_marks_stand_out_from_every_ground(name: str) -> None:
    colors = SCHEMES[name]
    for mark, ground in itertools.product((*MARKS, "focus"), GROUNDS):
        assert contrast(colors[mark], colors[ground]) >= CONTRAST_FLOOR, f"{mark} on {ground}"
    # The running line is meant to be quiet; it lies on the canvas only.
    assert contrast(colors["life"], colors["ground"]) >= CONTRAST_FLOOR


@pytest.mark.parametrize("name", SCHEMES)
def test_text_can_be_read(name: str) -> None:
    colors = SCHEMES[name]
    for text, ground in itertools.product(("text", "text2"), GROUNDS):
        assert contrast(colors[text], colors[ground]) >= TEXT_FLOOR, f"{text} on {ground}"
    for ground in ("ground", "page", "surface"):
        assert contrast(colors["text3"], colors[ground]) >= TEXT_FLOOR, ground
    assert contrast("#000000", colors["late"]) >= TEXT_FLOOR


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("name", SCHEMES)
def test_marks_differ_from_each_other_to_every_eye(name: str, vision: str) -> None:
    colors = SCHEMES[name]
    points = {mark: lab(seen(colors[mark], VISION[vision])) for mark in MARKS}
    for one, other in itertools.combinations(MARKS, 2):
        distance = math.dist(points[one], points[other])
        assert distance >= DISTANCE_FLOOR, f"{one} and {other}: {distance:.1f}"
        finer = ciede2000(points[one], points[other])
        assert finer >= DISTANCE_2000_FLOOR, f"{one} and {other}: {finer:.1f} by CIEDE2000"


def test_the_light_colours_are_the_same_by_system_and_by_choice() -> None:
    by_system = scheme(':root:not([data-theme="dark"]) {')
    assert by_system == LIGHT
    assert set(DARK) - {"found-edge"} <= set(LIGHT)

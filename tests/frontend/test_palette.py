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

CONTRAST_FLOOR = 3.0
TEXT_FLOOR = 4.5
DISTANCE_FLOOR = 25.0

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


DARK = scheme(":root {")
LIGHT = scheme(':root[data-theme="light"] {')
SCHEMES = {"dark": DARK, "light": LIGHT}


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


def test_the_light_colours_are_the_same_by_system_and_by_choice() -> None:
    by_system = scheme(':root:not([data-theme="dark"]) {')
    assert by_system == LIGHT
    assert set(DARK) - {"found-edge"} <= set(LIGHT)

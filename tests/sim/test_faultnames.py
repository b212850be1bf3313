"""One fault has one name, and imitates one thing, wherever it is told of."""

from __future__ import annotations

from random import Random
from typing import get_args

import msgspec
import pytest

from app.sim.button import Button, Scene
from app.sim.faultnames import about, named
from app.sim.faults import (
    AnyFault,
    EventsDamaged,
    EventsLost,
    EventsMisdated,
    Fault,
    InspectionsFail,
    StreamEnds,
)
from app.sim.library import load, names
from app.sim.presses import PALETTE
from app.sim.units import Ns, Offset, seconds

LASTING = [one for one in PALETTE if one.lasts is not None]


@pytest.mark.parametrize("button", LASTING, ids=lambda button: button.name)
def test_a_fault_is_called_as_its_button_and_imitates_the_same(button: Button) -> None:
    made = button.make(Scene(seconds(5), None, (), Random(0)))
    assert made.fault is not None
    words = named(made.fault)
    assert (words.text, words.imitates) == (button.text, button.imitates)


@pytest.mark.parametrize("kind", get_args(AnyFault), ids=lambda kind: kind.__name__)
def test_every_kind_has_a_name(kind: type[Fault]) -> None:
    raw: dict[str, object] = {"kind": kind.__struct_config__.tag, "at": 0}
    if "by" in kind.__struct_fields__ and kind is not EventsMisdated:
        raw["by"] = [0, 1]
    if "without" in kind.__struct_fields__:
        raw["without"] = "uid"
    words = named(msgspec.convert(raw, kind, dec_hook=lambda wanted, given: wanted(given)))
    assert words.text[0].isupper()
    assert "." not in words.text
    assert words.imitates.endswith(".")


def test_names_are_as_exact_as_the_fault() -> None:
    assert named(StreamEnds(at=Ns(0), how="cleanly")).imitates.startswith("CRI-O")
    assert "torn down" in named(StreamEnds(at=Ns(0), how="broken")).imitates
    assert named(EventsLost(at=Ns(0), events=("stopped",))).text == "Lose stop events"
    assert named(EventsDamaged(at=Ns(0), without="statuses")).text == "Take the statuses away"
    assert named(EventsMisdated(at=Ns(0), by=Offset(5))).text == "Set created_at forward"


def test_it_says_which_pods_it_is_about() -> None:
    assert about(InspectionsFail(at=Ns(0), pods="shop/*")) == "shop/*"
    assert about(InspectionsFail(at=Ns(0))) == ""
    assert about(StreamEnds(at=Ns(0))) == ""


def test_the_faults_of_every_scenario_have_names() -> None:
    told = [named(fault).text for name in names() for fault in load(name).faults]
    assert told
    assert all(told)

"""Reserved names and the ids that go with them."""

import re

import pytest

from app.sim.naming import Names, NameTakenError, digest


def test_an_id_is_64_hex_digits_and_follows_from_seed_name_and_time() -> None:
    name = "app_web_shop_u1_0"
    made = Names(1).reserve(name, 5)
    assert re.fullmatch(r"[0-9a-f]{64}", made)
    assert Names(1).reserve(name, 5) == made
    others = {
        Names(2).reserve(name, 5),
        Names(1).reserve(name, 6),
        Names(1).reserve("other", 5),
    }
    assert len(others | {made}) == 4


def test_a_name_belongs_to_one_until_it_is_released() -> None:
    names = Names(1)
    holder = names.reserve("app", 5)
    with pytest.raises(NameTakenError, match=f'"app" is reserved for "{holder}"'):
        names.reserve("app", 6)
    names.release(holder)
    assert names.reserve("app", 7) != holder


def test_the_same_image_has_the_same_content() -> None:
    assert digest("registry.example/app:1") == digest("registry.example/app:1")
    assert digest("registry.example/app:1") != digest("registry.example/app:2")
    assert len(digest("")) == 64

"""Lesson files are read hard: every name in one must be something that can be looked up."""

from __future__ import annotations

from importlib import resources

import pytest

from app.errors import LessonError
from app.stage.lessonfile import find, lessons, names, parse

GOOD = """
title = "A lesson"
order = 9
know = "Something."
scenario = "lesson-hint"
seed = 7
profile = "kep"
duration = "30s"
pods = ["shop/*"]

[run.arena]
scenario = "lesson-arena"
profile = "kep"

[thing.died]
call = "a death"
kind = "lifecycle"
pod = "shop/web-0"
where = { type = "ContainerDied" }

[figure.period]
is = "setting"
call = "Period"
what = "period"

[figure.took]
is = "field"
call = "It took"
thing = "died"
field = "since_finished_ns"

[figure.mean]
is = "mean"
call = "Mean"
of = "duration_ns"
group = { kind = "relist_finished", where = { scope = "global" } }

[[step]]
kind = "read"
title = "Look"
text = "Every {period}."
until = "5s"
span = ["0s", "6s"]
source = "KEP-3386"

[[step]]
kind = "predict"
title = "When?"
text = "Say."
until = "died - 5ms"
span = ["0s", "14s"]
source = "KEP-3386"

[step.ask]
right = "soon"
until = "died + 1s"
say = "It took {took}."

[[step.ask.choice]]
id = "soon"
text = "Soon"
when = [{ figure = "took", most = "2s" }]

[[step.ask.choice]]
id = "never"
text = "Never"
when = [{ thing = "died", missing = true }]

[[step]]
kind = "break"
title = "Break it"
text = "Press."
run = "arena"
until = "20s"
span = ["10s", "30s"]
source = "KEP-3386"

[[press]]
name = "lose-stops"
at = "11s"
"""


def test_a_sound_lesson_is_read() -> None:
    lesson = parse(GOOD, "a-lesson")
    assert lesson.name == "a-lesson"
    assert [step.kind for step in lesson.steps] == ["read", "predict", "break"]
    assert lesson.specs()["main"].scenario == "lesson-hint"
    assert lesson.specs()["arena"].scenario == "lesson-arena"
    assert lesson.specs()["main"].duration_ns == 30_000_000_000


def test_all_that_come_along_are_read_in_order() -> None:
    folder = resources.files("app.stage") / "lessons"
    there = {one.name.removesuffix(".toml") for one in folder.iterdir() if one.name[0] != "_"}
    assert set(names()) == there
    orders = [lesson.file.order for lesson in lessons()]
    assert orders == sorted(set(orders))
    assert find(names()[0]) is lessons()[0]
    assert find("no-such") is None


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('kind = "lifecycle"', 'kind = "lifecicle"', "no kind of record lifecicle"),
        ('type = "ContainerDied"', 'typ = "ContainerDied"', "has no field typ"),
        ('"ContainerDied"', '"ContainerDead"', "is never 'ContainerDead'"),
        ('scope = "global"', 'scope = "local"', "is never 'local'"),
        ('field = "since_finished_ns"', 'field = "since"', "has no field since"),
        ('thing = "died"\nfield', 'thing = "dead"\nfield', "no thing dead"),
        ('of = "duration_ns"', 'of = "pods"', "no duration"),
        ("{period}", "{perod}", "no figure perod"),
        ("{took}", "{toook}", "no figure toook"),
        ('"died - 5ms"', '"dies - 5ms"', "no thing dies"),
        ('"died - 5ms"', '"died minus 5ms"', "write a time as"),
        ('figure = "took", most', 'figure = "tok", most', "no figure tok"),
        ('figure = "took", most = "2s"', 'figure = "took"', "says `least` or `most`"),
        ('figure = "took", most = "2s"', 'figure = "took", thing = "died"', "about either"),
        ('right = "soon"', 'right = "later"', "`right` is the id of one of the choices"),
        ('right = "soon"\n', "", "says which one is `right`"),
        ('id = "never"', 'id = "soon"', "cannot have one id"),
        ('kind = "predict"', 'kind = "see"', "no other step has"),
        ('kind = "read"', 'kind = "point"', "says at what"),
        ('kind = "break"', 'kind = "see"', "ends with one step that says `break`"),
        ('name = "lose-stops"', 'name = "lose-all"', "no lose-all to press"),
        ('name = "lose-stops"', 'name = "kill-container"', "takes a `target`"),
        ('run = "arena"', 'run = "areena"', "no run areena"),
        ('scenario = "lesson-arena"', 'scenario = "lesson-area"', "no scenario lesson-area"),
        ('profile = "kep"\nduration', 'profile = "kap"\nduration', "it is one of"),
        ("[run.arena]", "[run.main]", "call others otherwise"),
        ("seed = 7", 'seed = "7"', "whole number"),
        ("order = 9", "order = 9\nlevel = 3", "there is no key `level`"),
        ('title = "A lesson"', 'title = "A lesson', "is not TOML"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    with pytest.raises(LessonError) as refused:
        parse(GOOD.replace(old, new, 1), "a-lesson")
    assert complaint in str(refused.value)
    assert "a-lesson.toml" in str(refused.value)


def test_a_thing_that_is_told_by_itself_is_refused() -> None:
    circle = GOOD.replace('kind = "lifecycle"', 'kind = "lifecycle"\nafter = "died"')
    with pytest.raises(LessonError, match="told by itself"):
        parse(circle, "a-lesson")


def test_a_name_is_a_name() -> None:
    with pytest.raises(LessonError, match="no name for a lesson"):
        parse(GOOD, "../a")

"""What a link may hold, and what it may not."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.profiles import PROFILES
from app.errors import ScenarioError, StageError, StageUnknown
from app.sim.library import load, names
from app.sim.presses import BY_NAME
from app.sim.scenario import Scenario
from app.stage.spec import HEAL, LONGEST, MOST_PRESSES, Press, RunSpec, in_seconds, parse

S = 1_000_000_000


def lookup(name: str) -> Scenario | None:
    try:
        return load(name) if name in names() else None
    except ScenarioError:
        return None


def read(query: str, runtimes: tuple[str, ...] = ()) -> RunSpec:
    return parse(parse_qsl(query, keep_blank_values=True), lookup, runtimes)


def refused(query: str) -> str:
    with pytest.raises(StageError) as error:
        read(query)
    return str(error.value)


def test_what_is_left_out_is_as_the_scenario_has_it() -> None:
    storm = load("storm")
    spec = read("scenario=storm")
    assert spec == RunSpec(scenario="storm", seed=storm.seed, duration_ns=int(storm.duration_ns))
    assert (spec.profile, spec.runtime, spec.presses) == ("kep", "", ())


def test_a_link_holds_everything_and_can_be_read_by_people() -> None:
    query = (
        "scenario=storm&seed=11&profile=legacy&runtime=cri-o&duration=90s"
        "&press=12.5s!break-stream&press=30.000000001s!kill-container!shop/web-1"
    )
    spec = read(query, runtimes=("cri-o",))
    assert spec.presses == (
        Press(12 * S + S // 2, "break-stream"),
        Press(30 * S + 1, "kill-container", "shop/web-1"),
    )
    assert spec.query() == query


def test_presses_are_in_order_of_time_so_that_equal_runs_have_equal_links() -> None:
    late_first = read("scenario=storm&press=9s!heal&press=3s!break-stream")
    assert [press.name for press in late_first.presses] == ["break-stream", HEAL]
    assert late_first == read("scenario=storm&press=3s!break-stream&press=9s!heal")


def test_an_empty_choice_is_one_that_was_left_out() -> None:
    assert read("scenario=storm&profile=&runtime=") == read("scenario=storm")


def test_what_else_stands_in_the_link_is_left_alone() -> None:
    assert read("t=3&scenario=storm&sel=7&filter=x") == read("scenario=storm")


@given(
    ns=st.integers(0, int(LONGEST)),
    seed=st.integers(0, 10**18 - 1),
    profile=st.sampled_from(sorted(PROFILES)),
    presses=st.lists(
        st.tuples(
            st.integers(0, 120 * S),
            st.sampled_from([name for name in BY_NAME if BY_NAME[name].target == "none"]),
        ),
        max_size=5,
    ),
)
def test_each_spec_comes_back_from_its_link(
    ns: int, seed: int, profile: str, presses: list[tuple[int, str]]
) -> None:
    spec = RunSpec(
        scenario="storm",
        seed=seed,
        profile=profile,
        duration_ns=120 * S,
        presses=tuple(Press(t, name) for t, name in sorted(presses, key=lambda one: one[0])),
    )
    assert read(spec.query()) == spec
    pressed = read(f"scenario=storm&duration=1h&press={in_seconds(ns)}!heal").presses
    assert pressed == (Press(ns, HEAL),)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "names no scenario"),
        ("scenario=storm&scenario=churn", "twice"),
        ("scenario=storm&seed=-1", "`seed`"),
        ("scenario=storm&seed=1e9", "`seed`"),
        ("scenario=storm&profile=evented", "choose one of kep"),
        ("scenario=storm&runtime=docker", "`runtime`"),
        ("scenario=storm&duration=2h", "1h at most"),
        ("scenario=storm&duration=0s", "longer than nothing"),
        ("scenario=storm&duration=soon", "`duration`"),
        ("scenario=storm&duration=", "`duration`"),
        ("scenario=storm&duration=" + 40 * "1s", "`duration`"),
        ("scenario=storm&press=", "to press"),
        ("scenario=storm&press=3s!explode", "choose one of"),
        ("scenario=storm&press=never!break-stream", "no time"),
        ("scenario=storm&press=-3s!break-stream", "no time"),
        ("scenario=storm&press=121s!break-stream", "after the run's end"),
        ("scenario=storm&press=3s!kill-container", "needs a pod"),
        ("scenario=storm&press=3s!kill-container!web", "no pod"),
        ("scenario=storm&press=3s!kill-container!../../etc", "no pod"),
        ("scenario=storm&press=3s!break-stream!shop/web", "no single pod"),
        ("scenario=storm&press=3s!heal!shop/web", "no single pod"),
    ],
)
def test_what_cannot_be_played_is_said_in_a_sentence(query: str, says: str) -> None:
    told = refused(query)
    assert says in told
    assert told.endswith(".")
    assert "\n" not in told
    assert len(told) < 1000


@pytest.mark.parametrize("name", ["nothing", "/etc/passwd", "../demo", "a" * 5000, "storm.toml"])
def test_a_scenario_is_a_known_name_and_never_a_path(name: str) -> None:
    with pytest.raises(StageUnknown) as error:
        parse([("scenario", name)], lookup)
    assert len(str(error.value)) < 200


def test_presses_are_bounded() -> None:
    enough = "".join(f"&press={n}s!break-stream" for n in range(MOST_PRESSES))
    assert len(read(f"scenario=storm{enough}").presses) == MOST_PRESSES
    assert "leave some out" in refused(f"scenario=storm{enough}&press=3s!break-stream")


@given(st.lists(st.tuples(st.sampled_from(["scenario", "seed", "press", "duration"]), st.text())))
def test_nothing_but_a_sentence_comes_of_nonsense(pairs: list[tuple[str, str]]) -> None:
    # None of these texts is the name of a scenario.
    with pytest.raises(StageError, match=r"\.$"):
        parse(pairs, lambda _name: None)
    with pytest.raises(StageError, match=r"\.$"):
        parse([("scenario", "storm"), ("profile", "none"), *pairs], lookup)

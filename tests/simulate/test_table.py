"""The table: everything a person needs, and nothing that breaks a terminal."""

import msgspec
import pytest

from app.engine.profiles import PROFILES
from app.sim.account import Summary, play_to_end
from app.sim.library import load, names
from app.sim.scenario import Scenario
from app.sim.units import shown
from app.sim.virtual import VirtualSession
from app.simulate.table import MOST_LINES, plain
from app.simulate.table import table as page
from app.simulate.verdict import verdict


def summary(name: str, profile: str = "kep", time_s: int = 60) -> Summary:
    return play_to_end(VirtualSession(load(name), profile=profile), time_s * 10**9)


@pytest.fixture(scope="module")
def restart() -> Summary:
    return summary("runtime-restart", time_s=150)


def table(made: Summary, shows: str) -> str:
    return page(made, shows, verdict(made, made.played.scenario).text)


def lines(text: str, title: str) -> list[str]:
    """The part that begins so."""
    return next(part for part in text.split("\n\n") if part.startswith(title)).splitlines()


def test_it_begins_with_what_was_played_and_what_it_shows(restart: Summary) -> None:
    text = table(restart, "Something  to see.")
    assert text.splitlines()[0] == "The runtime is restarted three times"
    assert "scenario runtime-restart, profile kep (KEP-3386 as revised), seed 7" in text
    assert "\n\nSomething  to see.\n\n" in text
    assert text.endswith("\n")


def test_ends_and_starts_have_a_line_for_each_source(restart: Summary) -> None:
    text = table(restart, "")
    for title, found in (("Ends of processes", restart.ends), ("Starts", restart.starts)):
        part = lines(text, title)
        for source, spread in found.by_source.items():
            (line,) = [one for one in part if one.split()[0] == source]
            assert line.split()[1] == str(spread.count)
            assert shown(spread.max) in line
        assert any(f"{found.happened} in all" in one for one in part)
    flat = " ".join(lines(text, "Ends"))
    assert f"(p50 of the {restart.runtime_lag.count} it told of" in " ".join(flat.split())


@pytest.mark.parametrize("name", ["storm", "hint-lost", "short-lived"])
@pytest.mark.parametrize("profile", ["kep", "polling"])
def test_the_counts_add_up_to_all_that_happened(name: str, profile: str) -> None:
    made = summary(name, profile, time_s=40)
    text = table(made, "")
    for title, found in (("Ends of processes", made.ends), ("Starts of", made.starts)):
        counts = [spread.count for spread in found.by_source.values()]
        assert found.all.count == sum(counts)
        assert found.happened == found.all.count + found.baseline + found.waiting + found.never
        part = lines(text, title)
        if len(counts) > 1:
            (line,) = [one for one in part if one.split()[0] == "all"]
            assert line.split()[1] == str(found.all.count)
    flat = " ".join(text.split())
    assert made.starts.baseline > 0
    assert f"{made.starts.happened} in all: {made.starts.all.count} as above; " in flat
    assert f"{made.starts.baseline} came before the first look, so nobody was late" in flat


def test_the_runtime_is_never_slower_than_who_hears_of_it_from_the_runtime() -> None:
    """Of the same ends: a hint may be quicker than the median of all."""
    made = summary("storm", time_s=60)
    assert made.runtime_lag.count == made.ends.all.count
    assert made.runtime_lag.p50 <= made.ends.all.p50


def test_faults_requests_relists_stream_syncs_health_and_calls_are_told(restart: Summary) -> None:
    text = " ".join(table(restart, "").split())
    assert f"Requests {restart.requests['made']} made: " in text
    assert f"Relists {restart.relists.globally} global, one each " in text
    assert "Stream connected in the end; " in text
    opened, ended = restart.stream.events["opened"], restart.stream.events["errors"]
    assert opened == 3
    assert f"opened {opened} times, ended {ended} times" in text
    assert f"SyncPods {restart.syncs.count}, {restart.syncs.did_work} of which" in text
    assert "Health never unhealthy" in text
    assert f"{restart.calls['ListPodSandbox']} ListPodSandbox" in text
    assert "runtime-restarts 1 min 1 min " in text


def test_what_people_asked_of_the_kubelet_is_told_with_the_time_it_took() -> None:
    made = summary("churn", time_s=80)
    text = " ".join(table(made, "").split())
    running, deleted, waited = made.kubelet.running, made.kubelet.deleted, made.kubelet.waited
    assert running.count == 12
    assert deleted.count == 12
    told = f"Kubelet {running.count} new pods seen to run after {shown(running.p50)} (p50; max "
    assert told in text
    assert f"12 deletions done after {shown(deleted.p50)} (p50; max " in text
    assert f"; {waited.count} waits of a pod worker for a fresh cache entry of " in text
    assert "resizes" not in text
    odd = msgspec.structs.replace(
        made,
        kubelet=msgspec.structs.replace(
            made.kubelet, resized=running, probes_failed={"liveness": 3, "startup": 2}
        ),
    )
    text = " ".join(table(odd, "").split())
    assert "12 resizes seen to hold after " in text
    assert "; 3 failed liveness probes; 2 failed startup probes" in text


def test_columns_stand_under_each_other(restart: Summary) -> None:
    part = lines(table(restart, ""), "Lifecycle events")[1:]
    ends = {len(one) for one in part}
    assert len(ends) == 1
    assert len(part) == 1 + len(restart.lifecycle)


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("profile", PROFILES)
def test_no_line_is_wider_than_a_terminal(name: str, profile: str) -> None:
    text = table(summary(name, profile, 20), load(name).shows)
    assert max(map(len, text.splitlines())) <= 100
    assert all(line == line.rstrip() for line in text.splitlines())


def test_what_is_wrong_is_shown_but_not_all_of_it() -> None:
    text = table(summary("storm", "legacy", 40), "")
    assert "legacy is known for that" in " ".join(text.split())
    shown_lines = [line for line in text.splitlines() if line.startswith("  records  ")]
    assert len(shown_lines) == MOST_LINES
    assert "more" in text.splitlines()[-1]


def test_what_is_odd_is_told() -> None:
    made = summary("churn", "legacy", 60)
    assert f"; told of again, and counted once: {made.ends.twice}" in table(made, "")
    odd = msgspec.structs.replace(
        made,
        ends=msgspec.structs.replace(made.ends, twice=0, wrong=2, waiting=3, never=4),
        deliveries={"discarded": 5},
        unhealthy=msgspec.structs.replace(made.unhealthy, entered=1, ns=9 * 10**9),
    )
    text = table(odd, "")
    flat = " ".join(text.split())
    for told in ("not counted: 2", "3 unseen at the end", "4 missed, as", "5 discarded"):
        assert told in flat
    assert f"{odd.ends.happened} in all: {odd.ends.all.count} as above; " in flat
    assert "counted once" not in flat.split("Starts of")[0]
    assert "unhealthy once, 9 s in all" in text


def test_nothing_at_all_is_a_table_too() -> None:
    empty = Scenario(name="empty", title="Nothing", shows="Nothing.")
    text = table(play_to_end(VirtualSession(empty, profile="polling"), 10**9), "Nothing.")
    assert "none made" in text
    assert "0 in all" in text
    assert "Faults" not in text


def test_hostile_text_moves_no_cursor() -> None:
    hostile = Scenario(name="x", title="\x1b[2Jgone\x07\n", shows="y")
    text = table(play_to_end(VirtualSession(hostile), 10**9), "\x1b]0;title\x07 shows")
    assert "\x1b" not in text
    assert "\x07" not in text
    assert plain("a\tb\x9bc") == "a�b�c"

"""How far off the findings of a play can be: from when to when each could have come.

Three things are not known. *When the runtime changed*, between two observations. *When polls came*:
each global relist of another run ends a little sooner or later than the played one, and that adds
up, until after some dozens nothing is known of the phase but that there is a look in each period.
*How long calls take*, and who held the relist lock. From these follow bounds; within them the play
is one possible run, the most likely one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from app.engine.profiles import PROFILES
from app.engine.records import Lifecycle
from app.whatif.answer import Missed
from app.whatif.evidence import Evidence
from app.whatif.options import Options
from app.whatif.play import Played
from app.whatif.timeline import Happening

MS = 1_000_000
LEAST_NS = 5 * MS
"""No relist is taken to be known more exactly than this."""


class Span(NamedTuple):
    """From when to when it could have been found; None: perhaps not before the end."""

    earliest: int
    latest: int | None


class Bounds:
    """Answers for one play."""

    def __init__(self, evidence: Evidence, played: Played, options: Options) -> None:
        self._evidence = evidence
        self._played = played
        settings = options.settings(evidence.info.settings)
        profile = PROFILES[settings.profile]
        self._suspends = profile.suspension and options.hold_ns != 0
        self._holds = profile.suspension and bool(options.hold_ns)
        relists = sorted((*evidence.relists, *played.relists))
        self._starts = [began for began, _ in relists]
        self._longest = max((ended - began for began, ended in relists), default=0)
        self._relists = relists
        self._jitter = _jitter(evidence)
        self._looks = [one.t for one in played.looks]
        self._widest = max((b - a for a, b in pairwise(self._looks)), default=0)
        self._drift = self._drifts()

    def span(self, one: Happening, found: Lifecycle | None) -> Span:
        """Of a happening that the play found so (None: it did not)."""
        lo, hi = one.phase.lo, one.phase.hi
        poll = Span(self._earliest_poll(lo), self._latest_poll(one, hi))
        if found is None:
            return Span(poll.earliest, None)
        f = found.t
        if found.source == "global":
            latest = poll.latest
            return Span(min(f, poll.earliest), None if latest is None else max(f, latest))
        longest, shortest = self._lengths(lo, f)
        waited = 0 if found.relist == 0 else self._played.waited.get(found.relist, 0)
        # Another run's relist may be as short as can be, and begin without having waited; or it
        # may be long, and have waited for a long one.
        early = f - longest - MS - waited
        late = f + 2 * longest - shortest + MS + waited
        if found.source == "evented_pleg":
            early, late = early - self._jitter, late + self._jitter
        if found.source == "evented_pleg" and not one.life.item.hints.get(_told_by(one)):
            # Nobody had recorded the event: it came with the change, whenever that was.
            early, late = early - (one.phase.t - lo), late + (hi - one.phase.t)
        if poll.latest is not None:
            late = min(late, max(poll.latest, f))
        return Span(max(lo, min(early, poll.earliest)), late)

    def missed(self, one: Happening, found: Lifecycle | None) -> Missed:
        """Whether it would have been missed for good: ``yes``, ``no`` or ``maybe``."""
        gone, first = one.gone, one.seen_from
        if gone is None:
            return "no"
        if found is not None and found.source != "global" and found.t + LEAST_NS < gone.lo:
            return "no"
        uid = one.life.item.first.pod_uid
        held = self._holds and self._is_held(uid, first.lo, gone.hi)
        if not held and gone.lo - first.hi > self._widest + 2 * (self._longest + MS):
            return "no"
        sure = any(
            t - drift >= first.hi and t + drift <= gone.lo
            for t, drift in self._around(first.hi, gone.lo)
            if not (held and self._is_held(uid, t - drift - self._longest, t + drift))
        )
        longest_gap = self._gap(first.lo, gone.hi) + 2 * self._slack(first.lo, gone.hi)
        if sure or (not held and gone.lo - first.hi > longest_gap):
            return "no"
        if found is None and not any(
            t + drift >= first.lo and t - drift <= gone.hi
            for t, drift in self._around(first.lo, gone.hi)
        ):
            return "yes"
        return "maybe"

    def _is_held(self, uid: str, t: int, until_t: int) -> bool:
        """Whether a SyncPod withholds the pod at some time in between."""
        spans = self._played.held.spans.get(uid, ())
        return any(began <= until_t and ended >= t for began, ended in spans)

    # Polls

    def _drifts(self) -> list[int]:
        """How far each look can be from where it was played."""
        drifts: list[int] = []
        total, before = LEAST_NS, self._evidence.begin_t
        for look in self._looks:
            total += 2 * self._slack(before, look)
            # Beyond a whole period nothing more is unknown: there is a look in each.
            drifts.append(min(total, self._widest))
            before = look
        return drifts

    def _around(self, lo: int, hi: int) -> Sequence[tuple[int, int]]:
        """(time, drift) of the looks that may have come in this time, and some more."""
        looks, drift = self._looks, self._drift
        most = drift[-1] if drift else 0
        first = bisect_left(looks, lo - most)
        last = bisect_right(looks, hi + most)
        return list(zip(looks[first:last], drift[first:last], strict=True))

    def _earliest_poll(self, lo: int) -> int:
        looks, drift = self._looks, self._drift
        # Looks and their drifts both only grow, so the sum does.
        at = bisect_left(range(len(looks)), lo, key=lambda n: looks[n] + drift[n])
        if at == len(looks):
            return lo
        return max(lo, looks[at] - drift[at])

    def _latest_poll(self, one: Happening, hi: int) -> int | None:
        until = self._evidence.until_t
        slack = self._slack(hi, hi)
        t = hi
        pod = one.life.item.first.pod_uid
        spans = self._played.held.spans.get(pod, ()) if self._suspends else ()
        for began, ended in spans:
            if ended > t and began < t + self._gap(t, t) + 2 * slack:
                t = ended
        gap = self._gap(hi, t)
        latest = t + gap + 2 * self._slack(hi, t + gap)
        if t == hi:
            for look, drifted in self._around(hi, latest):
                if look - drifted >= hi:
                    latest = min(latest, look + drifted + 2 * slack)
                    break
        return latest if latest < until else None

    def _gap(self, t: int, until_t: int) -> int:
        """The longest time between two looks around then."""
        looks = self._looks
        if len(looks) < 2:
            return self._evidence.until_t - self._evidence.begin_t
        first = max(0, bisect_left(looks, t) - 2)
        last = bisect_right(looks, until_t) + 2
        near = looks[first:last]
        return max((b - a for a, b in pairwise(near)), default=looks[-1] - looks[-2])

    def _slack(self, t: int, until_t: int) -> int:
        """The longest relist around then, recorded or played, and a little more."""
        return self._lengths(t, until_t)[0] + MS

    def _lengths(self, t: int, until_t: int) -> tuple[int, int]:
        """The longest and the shortest relist around then, recorded or played."""
        first = bisect_left(self._starts, t - self._longest - 1000 * MS)
        last = bisect_right(self._starts, until_t + 1000 * MS)
        near = [ended - began for began, ended in self._relists[first:last]]
        return max(near, default=LEAST_NS), min(near, default=0)


def _told_by(one: Happening) -> str:
    return "started" if one.what == "start" else "stopped"


def _jitter(evidence: Evidence) -> int:
    """By how much the ways of ordinary events differed (ns)."""
    ways = sorted(
        hint.t - hint.made_t
        for item in evidence.items.values()
        for hint in item.hints.values()
        if hint.t >= hint.made_t
    )
    if not ways:
        return 2 * MS
    usual = [one for one in ways if one <= 10 * ways[len(ways) // 2]]
    return max(2 * MS, usual[-1] - usual[0])

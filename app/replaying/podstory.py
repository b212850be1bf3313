"""What had happened to one pod by a moment of a recording: its records, from the newest back.

A pod's records may be spread over the whole of a long recording, so they are looked for piece by
piece, and only until there is enough for a page.
"""

from bisect import bisect_right

from app.engine.records import AnyRecord, Lifecycle, PodSeen
from app.hub.filmwire import Sought
from app.hub.podthen import PodThen
from app.replaying.film import Film
from app.replaying.moments import moment, nothing

ENOUGH = 60
"""Lifecycle events after which no older piece is looked at."""
MOST_RECORDS = 2000
MOST_PIECES = 24


def pod_then(film: Film, uid: str, t: int) -> PodThen:
    """How a pod was at ``t`` (ns), with what had happened to it.

    Raises:
        RecordingError: nothing has been read yet, or it cannot be read.
    """
    try:
        then = moment(film, t, 0)
        records, whole = _records(film, uid, t)
    except IndexError:
        raise nothing(film) from None
    row = next((pod for pod in then.pods if pod.uid == uid), None)
    return PodThen(t=t, wall=film.origin + t, pod=row, records=tuple(records), whole=whole)


def _records(film: Film, uid: str, t: int) -> tuple[list[AnyRecord], bool]:
    """The records about a pod up to ``t``, oldest first, and whether those are all."""
    number, found = film.at(t), list[AnyRecord]()
    for _ in range(MOST_PIECES):
        about = [one for one in film.records(number) if one.t <= t and _is_about(one, uid)]
        found[:0] = about
        events = sum(isinstance(one, Lifecycle) for one in found)
        if found and isinstance(found[0], PodSeen):
            return found, True
        if events >= ENOUGH or len(found) >= MOST_RECORDS:
            break
        before = film.find(Sought(what="pod", seq=film.span(number)[0], back=True, uid=uid))
        if before.seq is None:
            return found, True
        firsts = range(film.pieces)
        number = bisect_right(firsts, before.seq, key=lambda one: film.span(one)[0]) - 1
    return found[-MOST_RECORDS:], False


def _is_about(record: AnyRecord, uid: str) -> bool:
    return getattr(record, "uid", None) == uid

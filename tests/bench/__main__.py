"""plegscope's cost and speed, measured side by side on this machine.

    a  CPU of watch at 10, 110 and 250 pods against a bare loop
    b  event to ContainerDied; with the stream against polling
    c  record to browsers: 1, 20 and 50 viewers
    d  rounds of pods with and without watch
    e  the engine's step against parsing a listing
    f  virtual time against life, a stop event's step, memory per pod
    g  a run of ten minutes: played ahead, sent, stepped back in a browser
    h  the recorder: an hour, beside SQLite and JSON lines, and what a step pays
    i  recordings of up to ten million records, replayed: open, seek, play, memory
    j  frames of the timeline while it is panned, zoomed and scrolled
    k  an hour of churn with three browsers; only when chosen
    l  opening each page: first picture, and what is sent

a, b and d need root on a Linux where the lab's containerd runs. All together take a quarter of
an hour; a figure that misses its target does not change the exit code.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence

from tests.bench import (
    bigfile,
    cost,
    fanout,
    frames,
    hour,
    latency,
    opening,
    playing,
    recording,
    rounds,
    stepping,
    virtual,
)
from tests.bench.node import Node, say
from tests.bench.report import Section, loads, machine, verdict
from tests.lab.errors import LabError, LabUnavailable

MEASURES: dict[str, Callable[[Node], Section]] = {
    "a": cost.measure,
    "b": latency.measure,
    "c": lambda _node: fanout.measure(),
    "d": rounds.measure,
    "e": lambda _node: stepping.measure(),
    "f": lambda _node: virtual.measure(),
    "g": lambda _node: playing.measure(),
    "h": lambda _node: recording.measure(),
    "j": lambda _node: frames.measure(),
    "i": lambda _node: bigfile.measure(),
    "k": lambda _node: hour.measure(),
    "l": lambda _node: opening.measure(),
}

LONG = {"k"}
"""What is measured only when it is chosen."""


def chosen(text: str) -> list[str]:
    """Letters with commas, in the order of the alphabet."""
    letters = {word.strip() for word in text.split(",")}
    if not letters <= MEASURES.keys():
        raise argparse.ArgumentTypeError(f"choose from {', '.join(MEASURES)}, with commas")
    return sorted(letters)


def main(argv: Sequence[str]) -> int:
    """Measure and print; returns the exit code, which tells nothing of the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", type=chosen, default=sorted(MEASURES.keys() - LONG), metavar="a,b"
    )
    letters: list[str] = parser.parse_args(argv).only
    began = time.monotonic()
    print(f"{machine()}\n{loads()}", flush=True)
    sections: list[Section] = []
    with Node() as node:
        for letter in letters:
            try:
                section = MEASURES[letter](node)
            except LabUnavailable as error:
                print(f"\n({letter}) left out: {error}", flush=True)
                continue
            sections.append(section)
            print(f"\n{section.text()}", flush=True)
    say(f"took {time.monotonic() - began:.0f} s")
    print(f"\n{loads()}\n{verdict(sections)}")
    return 0


if __name__ == "__main__":
    # Also when it is ended from outside, the node is purged.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)

"""One seed, a generator of its own for everything that draws.

One more draw in one place shifts nothing elsewhere, and nothing depends on who came first: a
container's lifetime follows from the seed, its pod and its number, however late it was started.
"""

from random import Random


def generator(seed: int, *names: str | int) -> Random:
    """The generator of this seed for what is called so.

    Seeded with text, which Python hashes with SHA-512: the same in every process, whatever
    ``PYTHONHASHSEED`` says.
    """
    text = seeded_with(seed, *names)
    return Random(text)  # noqa: S311  a simulation wants reproducible chance, not secrets


def seeded_with(seed: int, *names: str | int) -> str:
    """What the generator of this seed and name is seeded with."""
    return "/".join(str(name) for name in (seed, *names))


def between(rng: Random, span: tuple[int, int]) -> int:
    """A whole number from ``span``, both ends included."""
    return rng.randint(*span)


def mostly_short(rng: Random, span: tuple[int, int]) -> int:
    """A duration from ``span``, the shorter ones more often (quadratic), as durations are."""
    shortest, longest = span
    return shortest + round((longest - shortest) * rng.random() ** 2)

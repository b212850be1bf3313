"""Go's way of writing a duration, which the kubelet's messages use (``3m0.4s``)."""

_SECOND = 1_000_000_000
_SMALL = ((1_000_000, "ms"), (1_000, "µs"), (1, "ns"))


def go_duration(ns: int) -> str:
    """``ns`` as Go's ``time.Duration.String`` writes it: ``1.5ms``, ``3m0s``, ``1h0m2s``."""
    if ns == 0:
        return "0s"
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    if ns < _SECOND:
        unit, name = next(one for one in _SMALL if ns >= one[0])
        return f"{sign}{_decimal(ns, unit)}{name}"
    minutes, rest = divmod(ns, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest, _SECOND)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    if hours:
        text = f"{hours}h{text}"
    return sign + text


def _decimal(value: int, unit: int) -> str:
    whole, part = divmod(value, unit)
    if part == 0:
        return str(whole)
    digits = len(str(unit)) - 1
    return f"{whole}.{part:0{digits}d}".rstrip("0")

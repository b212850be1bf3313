"""What plegscope itself costs the node: CPU, memory, runtime calls and bytes."""

import time
from collections import deque
from pathlib import Path
from typing import Protocol

import msgspec

from app.hub.wire import Cost

_WINDOW = 10
_PAGE = 4096
_STATM = Path("/proc/self/statm")


class Traffic(Protocol):
    """Who counts the calls made to the runtime."""

    @property
    def calls_total(self) -> int:
        """Calls made so far."""
        ...

    @property
    def bytes_total(self) -> int:
        """Bytes received so far."""
        ...


class _Sample(msgspec.Struct, frozen=True):
    at_ns: int
    cpu_ns: int
    calls: int
    size: int


class CostMeter:
    """Own cost over the last ``_WINDOW`` samples; ``sample`` is called about once a second."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._samples: deque[_Sample] = deque(maxlen=_WINDOW)
        self._rss = 0
        self.sample()

    def sample(self) -> None:
        """Take a look at the counters."""
        self._samples.append(
            _Sample(
                time.monotonic_ns(),
                time.process_time_ns(),
                self._traffic.calls_total,
                self._traffic.bytes_total,
            )
        )
        self._rss = _resident_bytes()

    def cost(self) -> Cost:
        """The mean over the samples kept."""
        first, last = self._samples[0], self._samples[-1]
        elapsed = last.at_ns - first.at_ns
        if elapsed <= 0:
            return Cost(0.0, 0.0, 0.0, self._rss)
        return Cost(
            cpu=(last.cpu_ns - first.cpu_ns) / elapsed,
            calls_per_s=(last.calls - first.calls) * 1e9 / elapsed,
            bytes_per_s=(last.size - first.size) * 1e9 / elapsed,
            rss_bytes=self._rss,
        )


def _resident_bytes() -> int:
    try:
        with _STATM.open("rb", buffering=0) as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        # Not Linux: memory is simply not shown.
        return 0

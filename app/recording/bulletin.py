"""What a recorder has to say, in sentences for the timeline, each once."""

from collections import deque
from typing import Literal

STOPPED = (
    "Recording has stopped ({}). It is tried again every second: make room, or start plegscope "
    "again and give a better place to record into."
)
GOES_ON = "Recording goes on."
BEHIND = "Recording is behind: the disk is slow to take it."
CAUGHT_UP = "Recording has caught up."
MOST = 100
"""Sentences that wait to be read; the oldest go."""

Level = Literal["info", "warning"]
News = tuple[Level, str]


class Bulletin:
    """Sentences from one thread to another. ``slow``: as ``news`` was told last."""

    def __init__(self) -> None:
        self._waiting: deque[News] = deque(maxlen=MOST)
        self._trouble = ""
        self.slow = False

    def warn(self, text: str) -> None:
        """Say this the next time; from any thread."""
        self._waiting.append(("warning", text))

    def news(self, trouble: str, *, slow: bool) -> list[News]:
        """What is new. ``trouble``: why nothing can be written, if it is so; ``slow``: the disk."""
        news: list[News] = []
        if trouble != self._trouble:
            news.append(("warning", STOPPED.format(trouble)) if trouble else ("info", GOES_ON))
            self._trouble = trouble
        if slow != self.slow:
            if slow:
                news.append(("warning", BEHIND))
            elif not trouble:
                news.append(("info", CAUGHT_UP))
            self.slow = slow
        while self._waiting:
            news.append(self._waiting.popleft())
        return news

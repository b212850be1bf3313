"""Collects messages until they are worth a chunk."""

from app.recording import mcapwrite as mcap
from app.recording.segment import Packed, new_compressor

CHUNK_BYTES = 1024 * 1024
"""Unpacked bytes after which a chunk is closed."""
CHUNK_MESSAGES = 8192
"""Messages, likewise."""

MAX_TIME = (1 << 63) - 1


class Packer:
    """The chunk in progress; it is true when there is a message in it."""

    def __init__(self) -> None:
        self._compressor = new_compressor()
        self._records = bytearray()
        self._entries: dict[int, bytearray] = {}
        self._messages = 0
        self._start = MAX_TIME
        self._end = 0

    def __bool__(self) -> bool:
        return self._messages > 0

    def prepend(self, records: bytes) -> None:
        """Records that are no messages: schemas and channels."""
        self._records += records

    def put(
        self, channel: int, sequence: int, log_time: int, publish_time: int, data: bytes
    ) -> bool:
        """Add a message; returns whether the chunk is full. Times in ns, put within bounds."""
        log_time = min(max(log_time, 0), MAX_TIME)
        publish_time = min(max(publish_time, 0), MAX_TIME)
        entry = mcap.INDEX_ENTRY.pack(log_time, len(self._records))
        self._entries.setdefault(channel, bytearray()).extend(entry)
        self._records += mcap.message(channel, sequence, log_time, publish_time, data)
        self._messages += 1
        self._start = min(self._start, log_time)
        self._end = max(self._end, log_time)
        return self._messages >= CHUNK_MESSAGES or len(self._records) >= CHUNK_BYTES

    def take(self) -> Packed:
        """The chunk; a new one begins."""
        packed = Packed(
            self._compressor, bytes(self._records), self._start, self._end, self._entries
        )
        self._clear()
        return packed

    def _clear(self) -> None:
        self._records.clear()
        self._entries = {}
        self._messages = 0
        self._start = MAX_TIME
        self._end = 0

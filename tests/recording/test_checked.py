"""What stands in a file becomes our own types, and no number of it is larger than any of ours."""

import msgspec
import pytest

from app.engine.records import AnyRecord, Record, RelistFinished
from app.recording.checked import UNFIT, Checked

FINISHED = (
    '{{"kind":"relist_finished","t":{t},"wall":2,"relist":1,"scope":"global","source":"global",'
    '"started":0,"duration_ns":{duration},"ok":true,"containers_by_state":{{"running":{count}}}}}'
)


def _told(*, t: int = 1, duration: int = 3, count: int = 4) -> bytes:
    return FINISHED.format(t=t, duration=duration, count=count).encode()


def test_it_is_decoded_as_ever() -> None:
    record = Checked[Record](AnyRecord).decode(_told(t=-(2**63), duration=2**63 - 1))
    assert isinstance(record, RelistFinished)
    assert (record.t, record.duration_ns) == (-(2**63), 2**63 - 1)
    assert record.containers_by_state == {"running": 4}


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**400])
@pytest.mark.parametrize("field", ["t", "duration", "count"])
def test_a_number_of_more_than_64_bits_is_none_of_ours(field: str, number: int) -> None:
    decoder = Checked[Record](AnyRecord)
    with pytest.raises(UNFIT):
        decoder.decode(_told(**{field: number}))
    assert isinstance(decoder.decode(_told()), RelistFinished)


def test_what_is_of_another_type_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        Checked[Record](AnyRecord).decode(b'{"kind":"relist_finished"}')

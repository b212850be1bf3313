"""Every text field there is loses every name, and words keep their meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from msgspec import inspect

from app.engine.records import AnyRecord, Lifecycle, PodCached, Record, RelistFinished, Watching
from app.export.names import Names
from app.export.redact import Redacted, Redactor
from app.export.source import Kept, open_source
from app.recording.format import AnyInput, Loss, SessionInfo, StateThen
from app.recording.scribe import Scribe
from app.recording.segment import Segment
from app.replaying.excerpt import Excerpt
from tests.build import died, note, pod_seen, relist_finished
from tests.export.made import hostile, kept, numbered
from tests.recording.recorded import SECOND, info

SECRET = "payroll-secret"


def redactor(*, containers: bool = False) -> Redactor:
    made = Redactor(Names(b"k" * 32), containers=containers)
    made.meet("pod", SECRET)
    return made


def filled(info: inspect.Type) -> Any:
    """A value of a type, with the secret in every text."""
    if isinstance(info, inspect.StructType):
        values = {field.name: filled(field.type) for field in info.fields}
        return info.cls(**values)
    if isinstance(info, inspect.StrType):
        return f"x {SECRET}: y"
    if isinstance(info, inspect.LiteralType):
        return info.values[0]
    if isinstance(info, inspect.VarTupleType):
        return (filled(info.item_type), filled(info.item_type))
    if isinstance(info, inspect.DictType):
        return {filled(info.key_type): filled(info.value_type)}
    if isinstance(info, inspect.UnionType):
        order = (inspect.StructType, inspect.VarTupleType, inspect.StrType)
        kinds = [one for kind in order for one in info.types if isinstance(one, kind)]
        return filled(kinds[0] if kinds else info.types[0])
    if isinstance(info, inspect.BoolType):
        return True
    return 1 if isinstance(info, inspect.IntType | inspect.FloatType) else None


ALL = (*get_args(AnyRecord), *get_args(AnyInput), SessionInfo, Loss, StateThen)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("containers", [True, False])
def test_no_field_of_anything_keeps_a_name(kind: type[msgspec.Struct], *, containers: bool) -> None:
    thing = filled(inspect.type_info(kind))
    made = redactor(containers=containers)
    made.learn(thing)
    after = made.redact(thing)
    assert SECRET not in msgspec.json.encode(after).decode()
    assert type(after) is kind


def told(record: Record, *more: Record) -> list[Any]:
    return list(Redacted(kept(record, *more), redactor()).records())


def test_words_of_ours_keep_their_meaning_even_if_a_pod_has_that_name() -> None:
    watching = Watching(
        t=0, wall=0, profile="legacy", period_ns=1, threshold_ns=1, queue_capacity=1
    )
    relist = msgspec.structs.replace(
        relist_finished(by_state={"running": 2}), slowest_method="ListContainers"
    )
    seen = [pod_seen(name="legacy"), pod_seen("u2", name="running")]
    _, _, first, second = told(seen[0], seen[1], watching, relist)
    assert first.profile == "legacy"
    assert isinstance(second, RelistFinished)
    assert second.containers_by_state == {"running": 2}
    assert second.slowest_method == "ListContainers"


def test_whose_the_slowest_call_was_is_the_same_pod_in_its_new_name() -> None:
    relist = msgspec.structs.replace(relist_finished(), slowest_uid="u1")
    seen, told_of = told(pod_seen("u1"), relist)
    assert isinstance(told_of, RelistFinished)
    assert told_of.slowest_uid == seen.uid != "u1"


def test_a_name_that_comes_late_is_gone_from_what_came_before() -> None:
    before, _ = told(note(text="web-1 is slow"), pod_seen())
    assert before.text == "pod-1 is slow"


def test_names_of_containers_stay_unless_asked_for() -> None:
    record = msgspec.structs.replace(died(), container_name="app", reason="app failed")
    (after,) = told(record)
    assert (after.container_name, after.reason) == ("app", "app failed")
    (after,) = Redacted(kept(record), redactor(containers=True)).records()
    assert isinstance(after, Lifecycle)
    assert (after.container_name, after.reason) == ("container-1", "container-1 failed")


def test_a_container_with_a_labels_name_is_not() -> None:
    made = redactor()
    made.meet("value", "app")
    assert made.redact(died()).container_name == "app"
    assert made.scrub("app=app") == "value-1=value-1"
    made.meet("pod", "app")
    assert made.redact(died()).container_name == "pod-1"


def test_a_container_with_a_pods_name_is_replaced() -> None:
    _, after = told(pod_seen(name="app"), msgspec.structs.replace(died(), container_name="app"))
    assert after.container_name == "pod-1"


def test_hostile_names_are_replaced_like_others() -> None:
    records = list(Redacted(kept(*hostile()), redactor()).records())
    data = msgspec.json.encode(records).decode()
    assert "alert" not in data
    assert "calc" not in data


def test_a_cached_pod_has_no_address_image_or_message_left() -> None:
    status = {"id": "ab" * 32, "name": "app", "attempt": 0, "runtime_state": "exited"}
    more = {"created_at": 1, "image": "registry/app:1", "message": "see 10.1.2.3"}
    cached = msgspec.convert(
        {"kind": "pod_cached", "t": 0, "wall": 0, "uid": "u1", "name": "n1", "namespace": "ns"}
        | {"relist": 1, "ips": ["10.1.2.3"], "containers": [status | more]},
        PodCached,
    )
    (after,) = told(*numbered(cached))
    (container,) = after.containers
    assert container.image == "image-1"
    assert container.message == f"see {after.ips[0]}"
    assert after.ips[0].startswith("2")
    assert len(container.id) == 64


def test_a_node_is_known_by_its_short_name_too() -> None:
    made = redactor()
    made.meet("node", "worker-3.corp.example")
    made.meet("node", "10.0.0.9")
    assert made.scrub("worker-3.corp.example: WORKER-3 has 10 pods") == "node-1: node-1 has 10 pods"


def test_an_image_is_known_without_its_tag_too() -> None:
    made = redactor()
    for image in ("team/app:1.2", "localhost:5000/other@sha256:" + "ab" * 32, "web:1"):
        made.meet("image", image)
    text = "pulling team/app, team/app:1.2 and localhost:5000/other for web"
    assert made.scrub(text) == "pulling image-1, image-1 and image-2 for web"


def test_whom_a_pod_is_named_after_is_not_told() -> None:
    """Neither by a text nor by a container that is called like its Deployment."""
    pod = "acme-portal-7c9d8b6f5-x2k9q"
    named = [msgspec.structs.replace(died(), container_name=one) for one in ("acme-portal", "app")]
    text = f"ReplicaSet acme-portal-7c9d8b6f5 of acme-portal made {pod}"
    _, said, first, second = told(pod_seen(name=pod), note(text=text), *named)
    assert said.text == "ReplicaSet workload-1 of workload-2 made pod-1"
    assert (first.container_name, second.container_name) == ("workload-2", "app")


def test_a_name_that_a_text_mentions_is_gone_from_other_texts_too() -> None:
    before, _ = told(note(text="acme-tls is late"), note(text='secret "acme-tls" not found'))
    assert before.text == "object-1 is late"
    # A single word is not: it may be anywhere.
    before, after = told(note(text="data is late"), note(text='volume "data" is full'))
    assert (before.text, after.text) == ("data is late", 'volume "object-1" is full')


def test_a_text_without_end_is_not_searched_twice() -> None:
    long = 'secret "acme-tls" ' + "x" * 70_000
    before, after = told(note(text="acme-tls"), note(text=long))
    assert before.text == "acme-tls"
    assert after.text.startswith('secret "object-1" x')


def test_the_title_is_scrubbed() -> None:
    source = kept(pod_seen())
    source.title = "web-1 of shop"
    assert Redacted(source, redactor()).title == "pod-1 of ns-1"


@pytest.mark.parametrize("name", ["node-77.corp.mcap", "node-77.mcap", "node-77.jsonl"])
def test_neither_node_nor_file_is_named(tmp_path: Path, name: str) -> None:
    """Of another machine's recording, also in its title and in what is said of its damages."""
    path, host = tmp_path / name, "node-77.corp"
    record = note(SECOND, f"From here on {name} is played.")
    scribe = Scribe(
        info(host=host, simulated=False, title=f"x 2.1 on {host}"), lambda _part: Segment(path)
    )
    scribe.put_record(record, by_engine=False)
    scribe.turn()
    if path.suffix == ".jsonl":
        path.write_bytes(msgspec.json.encode(record) + b"\n")
    memory = Kept([record], f"{name}: x 2.1 on {host}" if path.suffix == ".mcap" else name)
    memory.files = (path,)
    for source in (open_source(path), Excerpt([path]), memory):
        given = Redacted(source, redactor())
        told = [given.title, *(getattr(one, "text", "") for one in given.records())]
        source.missing = [f"{path} cannot be read.", f"{name} is damaged."]
        assert given.missing == ["/recording-1 cannot be read.", "recording-1 is damaged."]
        for text in told:
            assert "77" not in text, text
        assert not given.files

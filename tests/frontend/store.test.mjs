import assert from "node:assert/strict";
import { test } from "node:test";
import { Store } from "../../static/js/store.js";
import { MS, Play, S, row, state, stored } from "./kit.mjs";

test("a hint ties event, request, relist and finding together", () => {
  const play = new Play();
  play.pod(0, "a");
  const { found } = play.hint(100, "a");
  const store = stored(play, [row("a")]);
  const lane = store.lanes.get("a");
  assert.equal(lane.stops.length, 1);
  assert.equal(lane.stops[0].find.seq, found.seq);
  const ask = store.asks.get(1);
  assert.deepEqual(ask.spans, [{ what: "waiting", from: 100 * MS, to: 103 * MS }]);
  assert.equal(ask.end, "executed");
  const relist = store.relists.get(1);
  assert.deepEqual([relist.from, relist.to, relist.ok], [103 * MS, 105 * MS, true]);
  assert.deepEqual(relist.finds.map((find) => find.seq), [found.seq]);
  assert.equal(lane.finds[0].from, 100 * MS);
});

test("batches add to it, and what came twice counts once", () => {
  const play = new Play();
  play.pod(0, "a");
  const store = stored(play, [row("a")]);
  play.hint(50, "a");
  const batch = { type: "batch", first: 2, last: play.seq, records: play.records.slice(1) };
  store.apply(batch);
  store.apply(batch);
  assert.equal(store.records.length, play.seq);
  assert.equal(store.lanes.get("a").finds.length, 1);
  assert.equal(store.lastSeq, play.seq);
});

test("a running relist of which the state tells before its record does is one relist, and ends", () => {
  const play = new Play();
  play.global(0);
  const store = stored(play);
  play.global(1000);
  const records = play.records.slice(-2);
  const { relist, t } = records[0];
  const running = { relist, scope: "global", source: "global", started: t, uid: null, duration_ns: null, ok: null, pods: 0, containers: 0 };
  store.apply({ type: "state", state: state({ running }) });
  store.apply({ type: "batch", first: records[0].seq, last: play.seq, records });
  assert.deepEqual(store.globals.map((one) => [one.id, one.to !== null]), [[1, true], [2, true]]);
  assert.equal(store.relists.get(relist).seq, records[0].seq);
});

test("before the first change of the stream that is here it was connected, where that can be told", () => {
  const looks = (/** @type {any} */ rec, /** @type {(play: Play) => void} */ before = () => {}) => {
    const play = new Play();
    play.global(0);
    before(play);
    play.rec("stream", 900, { meaning: "", ...rec });
    return stored(play).stretches.map((each) => [each.state, each.from / MS, each.to === null ? null : each.to / MS]);
  };
  const hint = (/** @type {Play} */ play) => { play.pod(100, "a"); play.hint(200, "a"); };
  assert.deepEqual(looks({ state: "closed" }, hint), [["connected", 0, 900], ["closed", 900, null]]);
  assert.deepEqual(looks({ state: "waiting", connected_ns: 700 * MS }), [["connected", 200, 900], ["waiting", 900, null]]);
  assert.deepEqual(looks({ state: "connected", renewed: true }), [["connected", 0, null]]);
  assert.deepEqual(looks({ state: "closed" }), [["closed", 900, null]]);
});

test("a hole between batches is a gap", () => {
  const play = new Play();
  play.global(0);
  const store = stored(play);
  play.seq += 40;
  const rec = play.rec("note", 900, { level: "info", text: "x" });
  store.apply({ type: "batch", first: rec.seq, last: rec.seq, records: [rec] });
  assert.equal(store.gaps.length, 1);
  assert.deepEqual([store.gaps[0].from, store.gaps[0].to, store.gaps[0].count, store.gaps[0].hop], [5 * MS, 900 * MS, 40, "viewer"]);
});

test("after lagging, what was known stays and the hole is a gap", () => {
  const play = new Play();
  play.pod(0, "a");
  play.hint(10, "a");
  const store = stored(play, [row("a")]);
  const known = store.records.length;
  const later = new Play();
  later.seq = play.seq + 214;
  later.relist = 50;
  later.global(5000);
  store.apply({ type: "lagging", skipped: 220, lost: 214 });
  store.apply({ type: "snapshot", state: state(), pods: [row("a")], records: later.records, truncated: true, seq: later.seq });
  assert.equal(store.records.length, known + 2);
  assert.equal(store.gaps[0].count, 214);
  assert.equal(store.truncated, false, "the beginning is still known");
  assert.equal(store.lanes.get("a").finds.length, 1);
});

test("a snapshot that overlaps what is known leaves no gap", () => {
  const play = new Play();
  play.pod(0, "a");
  play.hint(10, "a");
  const store = stored(play, [row("a")]);
  store.apply({ type: "snapshot", state: state(), pods: [row("a")], records: play.records.slice(3), truncated: true, seq: play.seq });
  assert.equal(store.gaps.length, 0);
  assert.equal(store.records.length, play.seq);
});

test("how much is lost the server says", () => {
  const play = new Play();
  play.global(0);
  const store = stored(play);
  const later = new Play();
  later.seq = play.seq + 100;
  later.global(500);
  store.apply({ type: "lagging", skipped: 102, lost: 60 });
  store.apply({ type: "snapshot", state: state(), pods: [], records: later.records, truncated: true, seq: later.seq });
  assert.deepEqual(store.gaps.map((gap) => gap.count), [60]);
});

test("a relist that hangs is drawn though its beginning is older than the page", () => {
  const running = { relist: 9, scope: "global", source: "global", started: 3 * S, uid: null, duration_ns: null, ok: null, pods: 0, containers: 0 };
  const store = stored(new Play(), [], { now: state({ running }) });
  assert.deepEqual(store.globals.map((relist) => [relist.id, relist.from, relist.to]), [[9, 3 * S, null]]);
  store.apply({ type: "state", state: state({ running }) });
  assert.equal(store.globals.length, 1);
});

test("a death that events tell twice is one death", () => {
  const play = new Play();
  const believed = { source: "evented_pleg", relist: 0 };
  play.found(60, "a", "ContainerDied", believed);
  play.found(900, "a", "ContainerDied", { ...believed, exit_code: null });
  const lane = stored(play).lanes.get("a");
  assert.deepEqual(lane.finds.map((find) => find.again), [false, true]);
  assert.equal(lane.lastDeath.t, 60 * MS);
});

test("a pod that no listing has named yet", () => {
  const play = new Play();
  play.rec("sync_started", 10, { uid: "5c18f4e2-9e77-4e5e" });
  assert.equal(stored(play).lanes.get("5c18f4e2-9e77-4e5e").label, "new pod 5c18f4e2");
});

test("the queue's length follows what joins and leaves it", () => {
  const play = new Play();
  play.ask(10, "a");
  play.ask(20, "b");
  play.records[1].depth = 2;
  play.begin(30, { scope: "pod", source: "post_sync", uid: "a", request: 1 });
  const store = stored(play);
  assert.deepEqual(store.depths.map((each) => each.depth), [1, 2, 1]);
  assert.equal(store.queuedT, 30 * MS);
});

test("another session starts from nothing", () => {
  const play = new Play();
  play.pod(0, "a");
  const store = stored(play, [row("a")]);
  assert.deepEqual(store.resume(), { session: "s1", since: 1 });
  store.apply({ type: "hello", session: "s2", version: "1", resumed: false });
  assert.equal(store.lanes.size, 0);
  assert.equal(store.records.length, 0);
  assert.deepEqual(store.resume(), { session: "s2", since: 0 });
});

test("a request held, then another coalesced, then released and carried out", () => {
  const play = new Play();
  play.pod(0, "a");
  play.rec("sync_started", 10, { uid: "a" });
  const first = play.stop(20, "a", { outcome: "held" });
  play.stop(30, "a", { outcome: "coalesced" });
  play.moved(50, "a", "released", { request: first.request });
  play.rec("sync_finished", 50, { uid: "a", duration_ns: 40 * MS, did_work: true, failed: false, held: 1 });
  play.begin(52, { scope: "pod", source: "evented_pleg", uid: "a", request: first.request });
  const store = stored(play, [row("a")]);
  assert.deepEqual(store.asks.get(1).spans, [
    { what: "held", from: 20 * MS, to: 50 * MS }, { what: "waiting", from: 50 * MS, to: 52 * MS },
  ]);
  assert.deepEqual([store.asks.get(2).end, store.asks.get(2).spans], ["coalesced", []]);
  assert.deepEqual([store.lanes.get("a").syncs[0].from, store.lanes.get("a").syncs[0].to], [10 * MS, 50 * MS]);
});

test("skipped and dropped requests end where they ended", () => {
  const play = new Play();
  play.stop(10, "a", { outcome: "dropped" });
  play.stop(20, "a");
  play.moved(60, "a", "skipped", { relist: 9 });
  const store = stored(play);
  assert.deepEqual([store.asks.get(1).end, store.asks.get(1).endT], ["dropped", 10 * MS]);
  assert.deepEqual([store.asks.get(2).end, store.asks.get(2).endT, store.asks.get(2).relist], ["skipped", 60 * MS, 9]);
});

test("a move of a request whose making was not seen still shows", () => {
  const play = new Play();
  play.moved(60, "a", "dropped", { request: 77 });
  const ask = stored(play).asks.get(77);
  assert.deepEqual([ask.known, ask.end, ask.endT], [false, "dropped", 60 * MS]);
});

test("found by the poll without an event: unnoticed since the runtime's time", () => {
  const play = new Play();
  play.begin(1000);
  play.found(1004, "a", "ContainerDied", { since_finished_ns: 600 * MS });
  const find = stored(play).lanes.get("a").finds[0];
  assert.equal(find.from, 404 * MS);
});

test("what the first relist finds was not late", () => {
  const play = new Play();
  play.begin(0);
  play.found(4, "a", "ContainerDied", { since_finished_ns: 600 * S, old_state: "non-existent", baseline: true });
  play.found(4, "b", "ContainerDied", { since_finished_ns: 0.3 * S, baseline: true });
  const store = stored(play);
  assert.equal(store.lanes.get("a").finds[0].from, null);
  assert.equal(store.lanes.get("b").finds[0].from, null);
  assert.equal(store.lanes.get("b").lastDeath, null);
});

test("a stop event is moot when its death was known, from a backlog, or a later relist found nothing", () => {
  const play = new Play();
  play.begin(0);
  play.found(4, "a", "ContainerDied");
  play.stop(6, "a");
  play.stop(8, "b", { id: "b-x", backlog: true });
  play.stop(10, "c", { id: "c-x" });
  play.global(20);
  const store = stored(play);
  assert.deepEqual(["a", "b", "c"].map((uid) => store.lanes.get(uid).stops[0].moot), [true, true, true]);
});

test("a stop during SyncPod is not moot: its result is withheld", () => {
  const play = new Play();
  play.rec("sync_started", 5, { uid: "a" });
  play.stop(10, "a", { outcome: "held" });
  play.global(20);
  assert.equal(stored(play).lanes.get("a").stops[0].moot, false);
});

test("a pod that is gone leaves nothing unnoticed", () => {
  const play = new Play();
  play.stop(10, "a");
  play.rec("pod_gone", 30, { uid: "a" });
  const lane = stored(play).lanes.get("a");
  assert.equal(lane.stops[0].moot, true);
  assert.equal(lane.goneT, 30 * MS);
});

test("what ran before the first cache entry is told by that relist's findings, in either order", () => {
  for (const findsFirst of [true, false]) {
    const play = new Play();
    play.begin(10);
    if (findsFirst) play.found(12, "a", "ContainerDied");
    play.cached(12, "a", 1, []);
    if (!findsFirst) play.found(12, "a", "ContainerDied");
    const [entry] = stored(play).lanes.get("a").cached;
    assert.deepEqual([entry.running, entry.before], [0, true]);
  }
});

test("a container that had just started says that nothing ran before", () => {
  const play = new Play();
  play.begin(10);
  play.found(12, "a", "ContainerStarted");
  play.cached(12, "a", 1, ["a-c"]);
  const [entry] = stored(play).lanes.get("a").cached;
  assert.deepEqual([entry.running, entry.before], [1, false]);
});

test("the stream's life: tries belong to one stretch, renewals to none", () => {
  const play = new Play();
  play.rec("stream", 0, { state: "connecting", meaning: "" });
  play.rec("stream", 10, { state: "connected", meaning: "up" });
  play.rec("stream", 40_000, { state: "connected", meaning: "renewed", renewed: true });
  play.rec("stream", 50_000, { state: "waiting", meaning: "eof", code: "eof" });
  play.rec("stream", 51_000, { state: "connecting", meaning: "again" });
  play.rec("stream", 51_100, { state: "waiting", meaning: "eof", code: "eof" });
  play.rec("stream", 53_000, { state: "connecting", meaning: "again" });
  const store = stored(play);
  assert.deepEqual(store.stretches.map((each) => [each.state, each.from / MS, each.to === null ? null : each.to / MS]),
    [["connecting", 0, 10], ["connected", 10, 50_000], ["waiting", 50_000, null]]);
  assert.deepEqual(store.stretches[2].tries, [51_000 * MS, 53_000 * MS]);
  assert.equal(store.downSince, 50_000 * MS);
  play.rec("stream", 54_000, { state: "connected", meaning: "up" });
  store.apply({ type: "batch", first: play.seq, last: play.seq, records: play.records.slice(-1) });
  assert.equal(store.downSince, null);
});

test("it keeps so many records, and nothing built on the older ones", () => {
  const play = new Play();
  play.pod(0, "gone");
  play.hint(1, "gone");
  play.rec("pod_gone", 9, { uid: "gone" });
  play.pod(10, "a");
  const store = stored(play, [row("gone", { gone_t: 9 * MS }), row("a")], { capacity: 200 });
  for (let i = 0; i < 60; i += 1) {
    const first = play.seq + 1;
    play.hint(1000 + i * 100, "a");
    store.apply({ type: "batch", first, last: play.seq, records: play.records.slice(first - 1) });
  }
  assert.ok(store.records.length <= 220);
  assert.equal(store.truncated, true);
  assert.equal(store.lanes.has("gone"), false);
  const oldest = store.records[0].seq;
  const lane = store.lanes.get("a");
  for (const items of [lane.stops, lane.finds, lane.asks, lane.relists, store.ticks, store.finds, [...store.asks.values()], [...store.relists.values()]]) {
    assert.ok(items.length > 0 && items.every((item) => item.seq >= oldest));
  }
  assert.ok(lane.cached.length <= lane.finds.length + 1);
});

test("what has not ended is not forgotten", () => {
  const play = new Play();
  play.rec("sync_started", 1, { uid: "a" });
  play.begin(2, { scope: "pod", source: "evented_pleg", uid: "a" });
  const store = stored(play, [row("a", { syncing: true })], { capacity: 20 });
  for (let i = 0; i < 40; i += 1) {
    const first = play.seq + 1;
    play.rec("note", 10 + i, { level: "info", text: "" });
    store.apply({ type: "batch", first, last: play.seq, records: play.records.slice(-1) });
  }
  assert.equal(store.lanes.get("a").syncs.length, 1);
  assert.equal(store.lanes.get("a").relists.length, 1);
});

test("records are found by number", () => {
  const play = new Play();
  play.hint(1, "a");
  const store = stored(play);
  assert.equal(store.record(3).seq, 3);
  assert.equal(store.record(999), null);
  assert.equal(new Store().record(1), null);
});

test("the snapshot's rows name pods whose records are older than it", () => {
  const play = new Play();
  play.global(5000);
  const store = stored(play, [row("a", { name: "cart", seen_t: 1 * MS, running: 1, syncing: true })], { truncated: true });
  const lane = store.lanes.get("a");
  assert.deepEqual([lane.name, lane.cached[0].running, lane.syncs[0].from], ["cart", 1, 5000 * MS]);
});

test("the notes of a simulated node tell when which fault was at work", () => {
  const play = new Play();
  const note = (/** @type {number} */ ms, /** @type {string} */ text) => play.rec("note", ms, { level: "info", text });
  note(10, "Fault begins: lists-slow. It imitates: A runtime on a slow disk.");
  note(20, "Fault begins: Break the stream (shop/web-1). It imitates: A torn cable.");
  note(30, "Pressed: Kill a container (shop/web-1). It imitates: A crash.");
  note(40, "Fault begins: lists-slow. It imitates: A runtime on a slow disk.");
  note(50, "Fault is over: lists-slow.");
  note(60, "Fault is over: no-such.");
  note(70, "An ordinary note: Fault begins: not-at-all.");
  const { faults } = stored(play);
  assert.deepEqual(faults.map((one) => [one.name, one.from / MS, one.to === null ? null : one.to / MS]), [
    ["lists slow", 10, 50], ["Break the stream (shop/web-1)", 20, null], ["Kill a container (shop/web-1)", 30, 30], ["lists slow", 40, null],
  ]);
});

test("faults that are over go with their records", () => {
  const store = new Store(10);
  const play = new Play();
  play.rec("note", 0, { level: "info", text: "Fault begins: lists-slow. It imitates: x" });
  play.rec("note", 1, { level: "info", text: "Fault begins: stream-ends. It imitates: x" });
  play.rec("note", 2, { level: "info", text: "Fault is over: lists-slow." });
  for (let ms = 3; ms < 40; ms += 1) play.rec("cache_time", ms);
  store.apply({ type: "snapshot", state: state(), pods: [], records: [], truncated: false, seq: 0 });
  for (const record of play.records) store.apply({ type: "batch", first: record.seq, last: record.seq, records: [record] });
  assert.deepEqual(store.faults.map((one) => one.name), ["stream ends"]);
});

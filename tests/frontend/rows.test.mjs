import assert from "node:assert/strict";
import { test } from "node:test";
import { tally, total } from "../../static/js/legend.js";
import { counted, KINDS, kindOf } from "../../static/js/marks.js";
import { histogram } from "../../static/js/minimap.js";
import { cells, isNews, pick } from "../../static/js/rows.js";
import { isStop, lateness, noticed, stops, usual } from "../../static/js/stats.js";
import { MS, Play, S, row, stored } from "./kit.mjs";

const plain = (/** @type {string} */ text) => text.replaceAll("\u00a0", " ");

test("a finding as a row", () => {
  const play = new Play();
  const { found } = play.hint(100, "a");
  const { glyph, what, by, after, detail } = cells(found);
  assert.deepEqual([glyph, what, by, plain(after), detail], ["died-req", "ContainerDied", "hint", "5.0 ms", "137, killed · main"]);
});

test("every kind of record has words and a glyph", () => {
  const kinds = ["watching", "runtime", "pod_seen", "pod_gone", "stream_event", "event_ignored", "event_refused", "cache_time", "running_moved", "request", "request_moved", "relist_started", "relist_listed", "relist_finished", "lifecycle", "pod_cached", "pod_uncached", "stream", "sync_started", "sync_finished", "health", "pace", "retuned", "runtime_hung", "gap", "note"];
  for (const kind of kinds) {
    const told = cells(/** @type {any} */ ({ kind, t: 0, seq: 1, wall: 0, type: "ContainerDied" }));
    assert.ok(told.what && told.glyph && !told.what.includes("_"), kind);
  }
});

test("news are changes; the rest is there on demand", () => {
  const play = new Play();
  play.global(0);
  play.hint(10, "a");
  const store = stored(play);
  const want = { filter: "", off: new Set(), all: false, until: Infinity };
  assert.deepEqual(pick(store, want).map(({ rec }) => rec.kind), ["lifecycle", "stream_event"]);
  assert.equal(pick(store, { ...want, all: true }).length, play.seq);
  assert.equal(isNews(/** @type {any} */ ({ kind: "stream", renewed: true })), false);
});

test("filter, legend, and nothing newer than what the reader looks at", () => {
  const play = new Play();
  play.pod(0, "a", "cart");
  play.pod(0, "b", "redis");
  for (let i = 0; i < 400; i += 1) play.hint(10 * i, i % 2 ? "a" : "b");
  const store = stored(play);
  const want = { filter: "", off: new Set(), all: false, until: Infinity };
  assert.equal(pick(store, want).length, 802);
  assert.ok(pick(store, { ...want, filter: "cart" }).every(({ lane }) => lane.name === "cart"));
  assert.ok(pick(store, { ...want, off: new Set(["stop"]) }).every(({ rec }) => rec.kind !== "stream_event"));
  assert.ok(pick(store, { ...want, until: 50 })[0].rec.seq <= 50);
});

test("narrowed to the time around a mark, and pod by pod in another order", () => {
  const play = new Play();
  for (const [ms, uid] of /** @type {[number, string][]} */ ([[100, "b"], [5000, "a"], [5400, "c"]])) play.hint(ms, uid);
  play.rec("stream", 5500, { state: "connected", meaning: "" });
  play.hint(6000, "b");
  play.hint(9000, "a");
  const store = stored(play);
  const want = { filter: "", off: new Set(["stop"]), all: false, until: Infinity };
  const pods = (/** @type {any} */ more) => pick(store, { ...want, ...more }).map(({ lane }) => lane?.uid ?? "");
  assert.deepEqual(pods({ near: [4 * S, 7 * S] }), ["b", "", "c", "a"]);
  const order = (/** @type {any} */ lanes) => [...lanes].sort((a, b) => (a.uid < b.uid ? -1 : 1));
  assert.deepEqual(pods({ order }), ["a", "a", "b", "b", "c", ""]);
  const times = pick(store, { ...want, order }).map(({ rec }) => rec.t / S);
  assert.ok(times[0] > times[1] && times[2] > times[3]);
});

test("the legend counts what is in the window, requests once", () => {
  const play = new Play();
  play.hint(100, "a");
  play.stop(200, "b", { outcome: "dropped" });
  play.hint(5000, "a");
  play.rec("gap", 900, { hop: "journal", count: 3, from_t: 700 * MS, reason: "" });
  const n = tally(stored(play), 0, 1000 * MS);
  assert.deepEqual([n.stop, n.wait, n.relist, n.req, n.dropped, n.tail, n.gap], [2, 2, 1, 1, 1, 1, 200 * MS]);
  assert.deepEqual(total([n]), n);
  assert.deepEqual([total([n, n, {}]).stop, total([n, n]).gap, total([])], [4, 400 * MS, {}]);
});

test("each kind of the legend is one mark with one line", () => {
  assert.equal(new Set(KINDS.map((kind) => kind.id)).size, KINDS.length);
  assert.equal(new Set(KINDS.map((kind) => kind.glyph)).size, KINDS.length);
  assert.ok(KINDS.every((kind) => kind.line.endsWith(".")));
  assert.equal(kindOf(/** @type {any} */ ({ kind: "relist_started", scope: "pod", source: "post_sync" })), "own");
});

test("the last minute, by how stops were found", () => {
  const play = new Play();
  play.hint(1_000, "old");
  play.hint(100_000, "a");
  play.begin(101_000);
  play.found(101_004, "b", "ContainerDied", { since_finished_ns: 640 * MS });
  const { event, request } = play.stop(102_000, "c", { outcome: "held" });
  play.moved(103_000, "c", "released", { request });
  play.begin(103_001, { scope: "pod", source: "evented_pleg", uid: "c", request });
  play.found(103_003, "c", "ContainerDied", { source: "evented_pleg", request, event, stop_t: 102_000 * MS, after_ns: 1003 * MS });
  play.begin(104_000, { scope: "pod", source: "post_sync", uid: "d" });
  play.found(104_002, "d", "ContainerDied", { source: "post_sync", since_finished_ns: 90 * MS });
  const told = stops(stored(play), 110 * S);
  assert.deepEqual([told.total, told.hint.n, told.poll.n, told.held.n, told.own.n], [4, 1, 1, 1, 1]);
  assert.deepEqual([told.hint.median, told.poll.median], [5 * MS, 640 * MS]);
});

test("sandboxes, filtered findings and the baseline are no stops", () => {
  const died = { kind: "lifecycle", type: "ContainerDied", old_state: "running", delivery: "sent", is_sandbox: false, baseline: false };
  const judge = (/** @type {object} */ more) => isStop(/** @type {any} */ ({ ...died, ...more }));
  assert.deepEqual([judge({}), judge({ is_sandbox: true }), judge({ delivery: "filtered" }), judge({ baseline: true }), judge({ type: "ContainerStarted" })], [true, false, false, false, false]);
  assert.equal(judge({ old_state: "non-existent", since_finished_ns: 3600 * S }), false);
  assert.equal(judge({ old_state: "non-existent", since_finished_ns: 1 * S }), true);
  assert.equal(lateness(/** @type {any} */ ({ after_ns: null, since_finished_ns: null })), null);
});

test("starts are measured from the stream's event, where there was one", () => {
  const play = new Play();
  play.rec("stream_event", 100, { type: "started", uid: "a", container_id: "a-c", event: 1, is_sandbox: false, backlog: false });
  play.begin(105, { scope: "pod", source: "post_sync", uid: "a" });
  play.found(107, "a", "ContainerStarted", { source: "post_sync" });
  play.found(107, "a", "ContainerStarted", { source: "post_sync", container_id: "other" });
  const rows = noticed(stored(play), 1 * S);
  assert.deepEqual(rows.sync, [{ value: 7 * MS, open: true }]);
});

test("this node's usual needs a few relists", () => {
  const play = new Play();
  for (let i = 0; i < 4; i += 1) play.global(i * 1000, 5);
  assert.equal(usual(stored(play)), null);
  for (let i = 4; i < 20; i += 1) play.global(i * 1000, i);
  const typical = usual(stored(play));
  assert.ok(typical.low <= typical.middle && typical.middle <= typical.high);
});

test("the minimap counts stops per column, late ones apart", () => {
  const play = new Play();
  play.hint(100, "a");
  play.begin(800);
  play.found(900, "b", "ContainerDied");
  const { found, late } = histogram(stored(play, [row("a")]), 0, 1000 * MS, 10);
  assert.deepEqual([...found], [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...late], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
});

test("beside a number a mark is called by it: one stop, two stops", () => {
  assert.deepEqual([0, 1, 2].map((n) => counted("stop events", n)), ["stop events", "stop event", "stop events"]);
  const names = KINDS.flatMap(({ name, short }) => [name, short ?? name]).map((name) => counted(name, 1));
  assert.deepEqual(names.filter((name) => /\b(events|stops|relists)\b/.test(name)), []);
  assert.equal(counted("hint relists", 1), "hint relist");
  assert.equal(counted("found by request", 1), "found by request");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { noticed, slowestCall, stops, timesUsual, timesWords, told, trend, usual } from "../../static/js/stats.js";
import { containersWords } from "../../static/js/trend.js";
import { MS, Play, S, stored } from "./kit.mjs";

test("the panel counts the very stops that the sentence counts, and starts apart from them", () => {
  const play = new Play();
  play.pod(0, "a");
  play.hint(1000, "a");
  // Its time is not known: it is counted all the same, without a dot.
  play.global(3000);
  play.found(3005, "a", "ContainerDied", { container_id: "other" });
  play.rec("stream_event", 4000, { event: 9, type: "started", uid: "a", container_id: "new", container_name: "main", is_sandbox: false, created_at: 0, latency_ns: 0, backlog: false, request: null });
  play.found(4500, "a", "ContainerStarted", { container_id: "new" });
  const store = stored(play);
  const count = stops(store, 10 * S);
  const rows = noticed(store, 10 * S);
  const stopped = (/** @type {"hint"|"sync"|"poll"} */ row) => rows[row].filter((each) => !each.open).length;
  assert.deepEqual([stopped("hint"), stopped("sync"), stopped("poll")], [count.hint.n + count.held.n + count.event.n, count.own.n, count.poll.n]);
  assert.deepEqual(rows.poll.map((each) => [each.value, each.open]), [[null, false], [500 * MS, true]]);
});

test("stop events since a moment: others, and those of an earlier time, are none", () => {
  const play = new Play();
  play.stop(1000, "a");
  play.stop(3000, "a", { backlog: true });
  play.stop(4000, "a");
  play.rec("stream_event", 5000, { event: 7, type: "created", uid: "a", container_id: "x", container_name: "", is_sandbox: false, created_at: 0, latency_ns: 0, backlog: false, request: null });
  assert.deepEqual([told(stored(play), 0), told(stored(play), 2 * S), told(stored(play), 9 * S)], [2, 1, 0]);
});

test("this node's usual is the median of all that is known, and says of how many and since when", () => {
  const play = new Play();
  [4, 2, 3, 9, 6].forEach((took, i) => play.global(1000 * (i + 1), took));
  const store = stored(play);
  const known = usual(store);
  assert.deepEqual([known?.middle, known?.longest, known?.count, known?.since, known?.span], [4 * MS, 9 * MS, 5, S, 4 * S + 6 * MS]);
  const last = (/** @type {number|null} */ duration_ns, ok = /** @type {boolean|null} */ (true)) => timesUsual(/** @type {any} */ ({ duration_ns, ok }), known);
  assert.deepEqual([last(6 * MS), last(6 * MS, false), last(null, null), timesUsual(null, known), timesUsual(undefined, null)], [1.5, null, null, null, null]);
  assert.equal(usual(store), known, "asked again, it is not reckoned again");
  // One that failed is no measure, and one that hangs has no duration yet.
  play.begin(6000);
  play.end(9000, 6000, { ok: false, error: "it failed" });
  play.begin(10_000);
  const failed = usual(stored(play));
  assert.equal(failed?.count, 5);
});

test("the trend has the longest relist and the containers of each moment, and what hangs", () => {
  const play = new Play();
  play.global(0, 5);
  play.global(1000, 700);
  play.global(2000, 6);
  play.begin(5000);
  const found = trend(stored(play), 8 * S, 4);
  assert.deepEqual(found?.columns.map(({ took, open }) => [took, open]), [[700 * MS, false], [6 * MS, false], [3 * S, true], [null, false]]);
  assert.deepEqual(found?.columns.map(({ containers }) => containers), [1, 1, null, null]);
  // One that hangs is known from the state, and may have begun before all that were told of.
  const late = /** @type {any} */ ({ globals: [{ from: 5 * S, to: 6 * S, ok: true, done: null }, { from: S, to: null }] });
  const columns = trend(late, 9 * S, 4)?.columns ?? [];
  assert.deepEqual(columns.map(({ took, open }) => [took, open]), [[8 * S, true], [null, false], [S, false], [null, false]]);
  assert.equal(trend(stored(new Play()), S, 4), null);
  assert.deepEqual([containersWords([26, 24, 25]), containersWords([1]), containersWords([])].map((each) => each.replaceAll("\u00a0", " ")), ["24–26 containers", "1 container", ""]);
});

test("times are two digits, and the slowest call of the last minute is named", () => {
  assert.deepEqual([0.62, 3, 59.6, 1234].map(timesWords), ["0.6×", "3.0×", "60×", "1,234×"]);
  const play = new Play();
  play.global(1000);
  play.rec("relist_finished", 50_000, { relist: 9, scope: "pod", source: "post_sync", uid: "a", started: 0, duration_ns: 9 * MS, ok: true, slowest_method: "ContainerStatus", slowest_ns: 7 * MS, slowest_uid: "a" });
  assert.deepEqual(slowestCall(stored(play), 60 * S), { method: "ContainerStatus", ns: 7 * MS, uid: "a" });
  assert.equal(slowestCall(stored(play), 200 * S), null);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { noticed, stops, told } from "../../static/js/stats.js";
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

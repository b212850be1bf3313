import assert from "node:assert/strict";
import { test } from "node:test";
import { Recall } from "../../static/js/recall.js";
import { Store } from "../../static/js/store.js";
import { MS, Play, S, row, state } from "./kit.mjs";

/** What a store says of itself, without what only counts. @param {Store} store */
const told = (store) => JSON.parse(JSON.stringify({
  records: store.records.length, gaps: store.gaps, stretches: store.stretches, faults: store.faults, depths: store.depths, truncated: store.truncated,
  finds: store.finds.map((find) => [find.seq, find.from, find.fan, find.again]), globals: store.globals.map((each) => [each.id, each.from, each.to, each.ordinal]),
  asks: [...store.asks.values()].map((ask) => [ask.id, ask.end, ask.spans, ask.relist]),
  lanes: [...store.lanes.values()].map((lane) => ({
    uid: lane.uid, name: lane.name, gone: lane.goneT, last: lane.lastT, running: lane.running, cached: lane.cached, syncs: lane.syncs.map((sync) => [sync.from, sync.to]),
    stops: lane.stops.map((stop) => [stop.seq, stop.moot, stop.find?.seq ?? null]), relists: lane.relists.map((relist) => [relist.id, relist.from, relist.to]),
  })).sort((a, b) => (a.uid < b.uid ? -1 : 1)),
}));

function lived() {
  const play = new Play();
  for (const uid of ["a", "b", "gone"]) play.pod(0, uid);
  play.begin(1);
  for (const uid of ["a", "b", "gone"]) play.cached(2, uid, 1, [`${uid}-c`]);
  play.end(4, 1);
  for (let n = 0; n < 30; n += 1) {
    play.hint(100 + n * 50, n % 2 ? "a" : "b");
    if (n % 5 === 0) play.global(130 + n * 50);
    if (n === 7) play.rec("stream", 500, { state: "waiting", meaning: "It broke.", code: null });
    if (n === 9) play.rec("stream", 600, { state: "connected", meaning: "It works." });
    if (n === 12) play.rec("pod_gone", 720, { uid: "gone" });
    if (n === 14) play.rec("gap", 820, { hop: "stream", count: 3, from_t: 810 * MS, reason: "It was slow." });
    if (n === 20) play.rec("note", 1120, { text: "Fault begins: storm. It imitates: a crowd." });
    if (n === 29) play.rec("sync_started", 1600, { uid: "a" });
  }
  return play;
}

const PODS = [row("a", { syncing: true, seen_t: 0, last_t: 1600 * MS, running: 0 }), row("b", { running: 0, last_t: 1500 * MS }), row("gone", { gone_t: 720 * MS, running: 0, last_t: 720 * MS })];

function page(play, from) {
  const store = new Store(1000);
  store.apply({ type: "hello", session: "s1", version: "1", resumed: false });
  store.apply({ type: "snapshot", state: state({}, { first_seq: 1, last_seq: play.seq }), pods: PODS, records: play.records.slice(from), truncated: from > 0, seq: play.seq });
  return store;
}

test("whoever gets the records later, and piece by piece, knows the same", () => {
  const play = lived();
  const whole = told(page(play, 0));
  for (const cut of [1, 20, 60, 100, play.records.length - 3]) {
    const store = page(play, cut);
    const { revision } = store;
    const half = Math.floor(cut / 2);
    store.prepend(play.records.slice(half, cut));
    if (half) store.prepend(play.records.slice(0, half));
    assert.ok(store.revision > revision);
    const now = told(store);
    // The snapshot's rows are told first, so a pod without records has the same lane.
    assert.deepEqual(now, whole, `cut at ${cut}`);
  }
});

test("a hole of this page stays one", () => {
  const play = lived();
  const store = page(play, 60);
  const { seq } = play;
  play.hint(5000, "a");
  const late = play.records.slice(seq);
  store.apply({ type: "batch", first: seq + 10, last: seq + 12, records: late.slice(0, 1).map((rec) => ({ ...rec, seq: seq + 10 })) });
  assert.equal(store.gaps.filter((gap) => gap.hop === "viewer").length, 1);
  store.prepend(play.records.slice(30, 60));
  assert.equal(store.gaps.filter((gap) => gap.hop === "viewer").length, 1);
});

/** @param {any} store @param {(since: number, limit: number) => any} answer */
function recall(store, answer) {
  const asked = [];
  let now = 0;
  const of = new Recall({ store, ask: async (since, limit) => { asked.push([since, limit]); return answer(since, limit); }, changed: () => {}, setTimer: () => 0, clock: () => now });
  return { asked, of, want: async () => { of.want(); for (let i = 0; i < 4; i += 1) await Promise.resolve(); now += 5000; } };
}

test("records are asked for from the oldest one backwards until there are none", async () => {
  const play = lived();
  const store = page(play, 100);
  const { asked, of, want } = recall(store, (since, limit) => ({ session: "s1", records: play.records.slice(since, since + limit) }));
  of.page = 60;
  for (let i = 0; i < 4; i += 1) await want();
  assert.deepEqual(asked, [[40, 60], [0, 40]]);
  assert.deepEqual([store.records.length, store.truncated, of.left], [play.seq, false, 0]);
});

test("no more than there is room for", async () => {
  const play = lived();
  const store = page(play, 100);
  store.capacity = store.records.length + 10;
  const { asked, want } = recall(store, (since, limit) => ({ session: "s1", records: play.records.slice(since, since + limit) }));
  for (let i = 0; i < 3; i += 1) await want();
  assert.deepEqual(asked, [[90, 10]]);
  assert.equal(store.records.length, store.capacity);
});

test("an answer that does not reach what is here is not taken, and less is asked for", async () => {
  const play = lived();
  const store = page(play, 100);
  const before = told(store);
  const { asked, of, want } = recall(store, (since) => ({ session: "s1", records: play.records.slice(since, since + 5) }));
  await want();
  assert.ok(of.page < 8000);
  assert.deepEqual(told(store), before);
  const other = recall(store, (since, limit) => ({ session: "another", records: play.records.slice(since, since + limit) }));
  await other.want();
  assert.deepEqual(told(store), before);
  const deaf = recall(store, () => { throw new Error("no"); });
  await deaf.want();
  await deaf.want();
  assert.equal(deaf.asked.length, 2);
  assert.equal(asked.length, 1);
});

test("a container that died before is not unnoticed", () => {
  const play = new Play();
  play.pod(0, "a");
  play.stop(1 * 1000, "a");
  const store = page(play, 1);
  assert.equal(store.lanes.get("a").stops[0].moot, false);
  store.prepend(play.records.slice(0, 1));
  assert.equal(store.lanes.get("a").stops.length, 1);
  assert.equal(store.record(1)?.kind, "pod_seen");
  assert.equal(store.firstT, 0 * S);
});

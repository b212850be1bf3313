import assert from "node:assert/strict";
import { test } from "node:test";
import { Lineup, matches } from "../../static/js/lineup.js";
import { MS, Play, S, row, stored } from "./kit.mjs";

const AT = { now: 1 * S, from: 0, lane: 26, heading: 22, tall: 136, label: 0, selected: null, top: 0, view: 1000 };
const order = (/** @type {Lineup} */ lineup) => lineup.rows
  .map((each) => (each.part ? `${each.lane?.uid}.${each.part.name}` : each.lane?.uid ?? `[${each.fold ? `${each.pods} ${each.fold}` : each.group}]`));

function node() {
  const play = new Play();
  play.pod(10, "a", "cart-1", "shop");
  play.pod(20, "b", "redis-0", "data");
  play.pod(30, "c", "cart-2", "shop");
  const store = stored(play);
  const happen = (/** @type {number} */ ms, /** @type {string} */ uid) => {
    const rec = play.rec("sync_started", ms, { uid });
    store.apply({ type: "batch", first: rec.seq, last: rec.seq, records: [rec] });
  };
  return { play, store, happen };
}

test("newest activity first", () => {
  const { store } = node();
  const lineup = new Lineup();
  lineup.arrange(store, AT);
  assert.deepEqual(order(lineup), ["c", "b", "a"]);
  assert.deepEqual(lineup.rows.map((each) => each.y), [0, 26, 52]);
});

test("lanes in sight stay where they are; out of sight, the newest comes up", () => {
  const { store, happen } = node();
  const lineup = new Lineup();
  lineup.arrange(store, AT);
  happen(500, "a");
  lineup.arrange(store, AT);
  assert.deepEqual(order(lineup), ["c", "b", "a"]);
  lineup.arrange(store, { ...AT, view: 30 });
  assert.deepEqual(order(lineup), ["a", "c", "b"]);
});

test("nothing moves while the pointer or the focus is inside", () => {
  const { store, happen, play } = node();
  const lineup = new Lineup();
  lineup.arrange(store, AT);
  lineup.held = true;
  happen(500, "a");
  play.pod(600, "d", "late-1", "shop");
  store.apply({ type: "batch", first: play.seq, last: play.seq, records: play.records.slice(-1) });
  lineup.arrange(store, { ...AT, view: 30, now: 100 * S });
  assert.deepEqual(order(lineup), ["c", "b", "a", "d"]);
  lineup.held = false;
  lineup.arrange(store, { ...AT, view: 30, now: 100 * S });
  assert.deepEqual(order(lineup), ["d", "a", "c", "b"]);
});

test("a new pod comes on top", () => {
  const { store, play } = node();
  const lineup = new Lineup();
  lineup.arrange(store, AT);
  play.pod(600, "d");
  store.apply({ type: "batch", first: play.seq, last: play.seq, records: play.records.slice(-1) });
  lineup.arrange(store, AT);
  assert.equal(order(lineup)[0], "d");
});

test("by namespace, with headings", () => {
  const { store } = node();
  const lineup = new Lineup();
  lineup.group = "namespace";
  lineup.arrange(store, AT);
  assert.deepEqual(order(lineup), ["[shop]", "c", "a", "[data]", "b"]);
  assert.equal(lineup.rows[0].pods, 2);
  assert.equal(lineup.height, 2 * 22 + 3 * 26);
});

test("the filter takes every word from name, namespace and UID", () => {
  const { store } = node();
  const [a, b] = [store.lanes.get("a"), store.lanes.get("b")];
  assert.ok(matches(a, "CART shop") && matches(a, "shop/cart-1") && matches(a, ""));
  assert.ok(!matches(b, "cart") && !matches(a, "cart redis"));
  const lineup = new Lineup();
  lineup.filter = "redis";
  lineup.arrange(store, AT);
  assert.deepEqual([order(lineup), lineup.hidden, lineup.total], [["b", "[2 filter]"], 2, 3]);
});

test("only pods that changed near a mark, and the selected one", () => {
  const { play } = node();
  play.hint(100, "a");
  play.hint(5000, "b");
  const lineup = new Lineup();
  lineup.near = [0, 2 * S];
  lineup.arrange(stored(play), { ...AT, selected: "c" });
  assert.deepEqual(order(lineup).sort(), ["[1 near]", "a", "c"]);
  assert.equal(lineup.hidden, 1);
});

test("gone pods keep their lane while something of them is in sight, or they are selected", () => {
  const { store, play } = node();
  play.rec("pod_gone", 700, { uid: "b" });
  store.apply({ type: "batch", first: play.seq, last: play.seq, records: play.records.slice(-1) });
  const lineup = new Lineup();
  lineup.arrange(store, { ...AT, from: 600 * MS });
  assert.ok(order(lineup).includes("b"));
  lineup.arrange(store, { ...AT, from: 900 * MS });
  assert.ok(!order(lineup).includes("b"));
  lineup.arrange(store, { ...AT, from: 900 * MS, selected: "b" });
  assert.ok(order(lineup).includes("b"));
});

test("the selected lane is tall", () => {
  const { store } = node();
  const lineup = new Lineup();
  lineup.arrange(store, { ...AT, selected: "b" });
  assert.deepEqual(lineup.rows.map((each) => each.h), [26, 136, 26]);
  assert.deepEqual(lineup.visible(30, 40).map((each) => each.lane.uid), ["b"]);
});

test("rows of a snapshot are enough for a lane", () => {
  const store = stored(new Play(), [row("z", { last_t: 5 })]);
  const lineup = new Lineup();
  lineup.arrange(store, AT);
  assert.deepEqual(order(lineup), ["z"]);
});

test("a steady order follows from the time that is shown, by whatever way one came there", () => {
  const { play, store, happen } = node();
  happen(2000, "a");
  happen(12_000, "b");
  const came = new Lineup(10 * S);
  for (const second of [1, 3, 13, 21, 13]) came.arrange(store, { ...AT, now: second * S });
  const opened = new Lineup(10 * S);
  opened.arrange(store, { ...AT, now: 13 * S });
  assert.deepEqual(order(came), order(opened));
  // What counts is what was before the stretch began: b's newest comes after it.
  assert.deepEqual(order(opened), ["a", "c", "b"]);
  opened.arrange(store, { ...AT, now: 21 * S });
  assert.deepEqual(order(opened), ["b", "a", "c"]);
  play.pod(14_000, "d", "new", "shop");
  store.apply({ type: "batch", first: play.seq, last: play.seq, records: play.records.slice(-1) });
  opened.arrange(store, { ...AT, now: 14 * S });
  assert.deepEqual(order(opened), ["a", "c", "b", "d"]);
});

test("a steady order too stays while the pointer is in the lanes, and comes back after", () => {
  const { store, happen } = node();
  happen(12_000, "a");
  const lineup = new Lineup(10 * S);
  lineup.arrange(store, { ...AT, now: 13 * S });
  const before = order(lineup);
  lineup.held = true;
  lineup.arrange(store, { ...AT, now: 21 * S });
  assert.deepEqual(order(lineup), before);
  lineup.held = false;
  lineup.arrange(store, { ...AT, now: 21 * S });
  assert.equal(order(lineup)[0], "a");
});

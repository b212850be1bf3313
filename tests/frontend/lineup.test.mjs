import assert from "node:assert/strict";
import { test } from "node:test";
import { laneKey } from "../../static/js/lane-order.js";
import { Lineup, matches, MOST_KEPT, toggled } from "../../static/js/lineup.js";
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

/** A store of three pods: one restarts, one is noticed late, one does nothing. */
function troubled() {
  const { play } = node();
  const main = (/** @type {number} */ attempt, state = "running") => ({ id: `a-${attempt}`, name: "main", attempt, runtime_state: state, exit_code: 1 });
  play.rec("pod_cached", 100, { uid: "a", name: "cart-1", namespace: "shop", relist: 1, containers: [main(0), { id: "s", name: "side", attempt: 0, runtime_state: "running" }] });
  play.rec("pod_cached", 200, { uid: "a", name: "cart-1", namespace: "shop", relist: 2, containers: [main(1), main(0, "exited")] });
  play.rec("pod_cached", 300, { uid: "a", name: "cart-1", namespace: "shop", relist: 3, containers: [main(2, "exited"), main(1, "exited")] });
  play.found(900, "b", "ContainerDied", { since_finished_ns: 640 * MS });
  return { play, store: stored(play) };
}

test("by name as people count, by restarts, by the slowest detection", () => {
  const { play, store } = troubled();
  play.pod(950, "d", "cart-10", "shop");
  store.apply({ type: "batch", first: play.seq, last: play.seq, records: play.records.slice(-1) });
  const lineup = new Lineup();
  const by = (/** @type {any} */ sort) => {
    lineup.sort = sort;
    lineup.resort();
    lineup.arrange(store, AT);
    return order(lineup);
  };
  assert.deepEqual(by("name"), ["a", "c", "d", "b"]);
  assert.deepEqual(by("restarts"), ["a", "c", "d", "b"]);
  assert.deepEqual(by("slowest"), ["b", "a", "c", "d"]);
  assert.deepEqual(by("activity").slice(0, 2), ["d", "b"]);
  assert.equal(store.lanes.get("a").restarts, 2);
  assert.deepEqual([store.lanes.get("b").slowest.t, store.lanes.get("b").slowness], [900 * MS, 640 * MS]);
});

test("in a run such an order is that of the moment, also after going back", () => {
  const { play, store } = troubled();
  const lineup = new Lineup(10 * S);
  lineup.sort = "slowest";
  lineup.arrange(store, { ...AT, now: 1 * S });
  assert.deepEqual(order(lineup), ["b", "a", "c"]);
  play.found(1500, "c", "ContainerDied", { since_finished_ns: 900 * MS });
  store.apply({ type: "batch", first: play.seq, last: play.seq, records: play.records.slice(-1) });
  lineup.arrange(store, { ...AT, now: 1.6 * S });
  assert.deepEqual(order(lineup), ["c", "b", "a"]);
  store.apply({ type: "snapshot", state: store.state, pods: [], records: play.records.slice(0, 3), truncated: false, seq: 3, rewind: true });
  lineup.arrange(store, { ...AT, now: 0.1 * S });
  assert.deepEqual(order(lineup), ["a", "c", "b"]);
});

test("what is forgotten is no longer the slowest", () => {
  const { play, store } = troubled();
  play.found(1500, "b", "ContainerDied", { since_finished_ns: 100 * MS, container_id: "b-2" });
  store.apply({ type: "batch", first: play.seq, last: play.seq, records: play.records.slice(-1) });
  const lane = store.lanes.get("b");
  assert.equal(lane.slowness, 640 * MS);
  lane.prune(play.seq);
  assert.equal(lane.slowness, 100 * MS);
});

test("sorted by name, a new pod has its place at once, but under the pointer comes last", () => {
  const { play, store } = node();
  const lineup = new Lineup();
  lineup.sort = "name";
  lineup.arrange(store, AT);
  const come = (/** @type {number} */ ms, /** @type {string} */ uid, /** @type {string} */ name) => {
    play.pod(ms, uid, name, "shop");
    store.apply({ type: "batch", first: play.seq, last: play.seq, records: play.records.slice(-1) });
    lineup.arrange(store, AT);
  };
  come(600, "d", "a-1");
  assert.deepEqual(order(lineup), ["d", "a", "c", "b"]);
  lineup.held = true;
  come(700, "e", "a-0");
  assert.deepEqual(order(lineup), ["d", "a", "c", "b", "e"]);
  lineup.held = false;
  lineup.arrange(store, AT);
  assert.equal(order(lineup)[0], "e");
});

test("pinned pods stand on top in the order of pinning, whatever the order and the grouping", () => {
  const { store } = node();
  const lineup = new Lineup();
  lineup.pins = toggled(toggled([], laneKey(store.lanes.get("a"))), laneKey(store.lanes.get("b")));
  assert.deepEqual(lineup.pins, ["shop/cart-1", "data/redis-0"]);
  lineup.arrange(store, AT);
  assert.deepEqual(order(lineup), ["a", "b", "c"]);
  assert.deepEqual(lineup.rows.map((each) => each.pinned), [true, true, false]);
  lineup.group = "namespace";
  lineup.arrange(store, AT);
  assert.deepEqual(order(lineup), ["[Pinned]", "a", "b", "[shop]", "c"]);
  lineup.filter = "redis";
  lineup.arrange(store, AT);
  assert.deepEqual(order(lineup), ["[Pinned]", "b", "[2 filter]"]);
  lineup.pins = toggled(lineup.pins, "data/redis-0");
  assert.deepEqual(lineup.pins, ["shop/cart-1"]);
  const many = Array.from({ length: 100 }, (_, i) => `n/${i}`).reduce(toggled, /** @type {string[]} */ ([]));
  assert.deepEqual([many.length, many[0]], [MOST_KEPT, `n/${100 - MOST_KEPT}`]);
});

test("pods of two nodes that have one name are pinned and folded out each for itself", () => {
  const [one, two] = [node(), node()].map(({ store }, i) => ({ store, lineup: Object.assign(new Lineup(), { mark: `${i}:`, tellsAll: true }) }));
  const key = two.lineup.keyOf(/** @type {any} */ (two.store.lanes.get("a")));
  assert.equal(key, "1:shop/cart-1");
  for (const { store, lineup } of [one, two]) {
    Object.assign(lineup, { pins: [key], unfolded: [key] });
    lineup.arrange(store, AT);
  }
  assert.deepEqual([one, two].map(({ lineup }) => lineup.rows.some((row) => row.pinned)), [false, true]);
  assert.equal(two.lineup.inOrder(two.store.lanes.values())[0].uid, "a");
  // A node beside the first one says itself that the filter hides all of it.
  two.lineup.filter = "nothing of the kind";
  two.lineup.arrange(two.store, AT);
  assert.deepEqual(order(two.lineup), ["[3 filter]"]);
});

test("a pin under the pointer moves that pod and no other past another", () => {
  const { store, happen } = node();
  const lineup = new Lineup();
  lineup.arrange(store, AT);
  lineup.held = true;
  happen(500, "b");
  lineup.pins = ["shop/cart-1"];
  lineup.arrange(store, { ...AT, now: 100 * S });
  assert.deepEqual(order(lineup), ["a", "c", "b"]);
});

test("a pod folds out into its containers, oldest first, and all pods do", () => {
  const { store } = troubled();
  const lineup = new Lineup();
  lineup.unfolded = ["shop/cart-1"];
  lineup.sort = "restarts";
  lineup.arrange(store, { ...AT, selected: "a" });
  assert.deepEqual(order(lineup), ["a", "a.side", "a.main", "c", "b"]);
  assert.deepEqual(lineup.rows.map((each) => [each.y, each.h]), [[0, 136], [136, 21], [157, 21], [178, 26], [204, 26]]);
  assert.equal(new Set(lineup.rows.map((each) => each.id)).size, 5);
  const [side, main] = [...store.lanes.get("a").parts.values()];
  assert.deepEqual([side.state, main.state, main.exit, main.restarts], ["", "exited", 1, 2]);
  lineup.unfolded = [];
  lineup.allUnfolded = true;
  lineup.arrange(store, AT);
  // A pod whose containers nobody told has nothing to fold out; b's death named one.
  assert.deepEqual(order(lineup), ["a", "a.side", "a.main", "c", "b", "b.main"]);
});

test("quiet pods fold into one row that says how many; what is under way or pinned is not quiet", () => {
  const { play, store } = node();
  const lineup = new Lineup();
  lineup.quietFolded = true;
  const late = { ...AT, now: 200 * S, from: 140 * S };
  lineup.arrange(store, late);
  assert.deepEqual(order(lineup), ["[3 quiet]"]);
  assert.deepEqual([lineup.quiet, lineup.hidden, lineup.total], [3, 0, 3]);
  play.stop(100, "a");
  play.hint(150_000, "b");
  const busy = stored(play);
  lineup.arrange(busy, late);
  assert.deepEqual(order(lineup), ["b", "a", "[1 quiet]"]);
  lineup.pins = ["shop/cart-2"];
  lineup.arrange(busy, late);
  assert.deepEqual(order(lineup), ["c", "b", "a"]);
  lineup.pins = [];
  // Looking back: what came later is not in the time that is shown.
  lineup.arrange(busy, { ...late, from: 80 * S, to: 140 * S });
  assert.deepEqual(order(lineup), ["a", "[2 quiet]"]);
});

test("under the pointer no lane is folded away, and one that wakes comes last; by the reader's hand it is at once", () => {
  const { play } = node();
  play.hint(10_000, "a");
  play.hint(20_000, "b");
  const store = stored(play);
  const lineup = new Lineup();
  lineup.quietFolded = true;
  lineup.arrange(store, { ...AT, now: 30 * S, from: 8 * S });
  assert.deepEqual(order(lineup), ["b", "a", "[1 quiet]"]);
  lineup.held = true;
  play.hint(90_000, "c");
  store.apply({ type: "batch", first: play.seq - 6, last: play.seq, records: play.records.slice(-7) });
  lineup.arrange(store, { ...AT, now: 91 * S, from: 60 * S });
  assert.deepEqual(order(lineup), ["b", "a", "c"]);
  lineup.resort();
  lineup.arrange(store, { ...AT, now: 91 * S, from: 60 * S });
  assert.deepEqual(order(lineup), ["c", "[2 quiet]"]);
});

test("a pod is not called quiet in a time that is not known here", () => {
  const { play } = node();
  play.global(50_000);
  const store = stored(play, [row("z", { name: "old", seen_t: 0 })], { truncated: true });
  store.records.splice(0, 3);
  const lineup = new Lineup();
  lineup.quietFolded = true;
  lineup.arrange(store, { ...AT, now: 60 * S, from: 10 * S });
  assert.ok(order(lineup).includes("z"));
  lineup.arrange(store, { ...AT, now: 600 * S, from: 540 * S });
  assert.deepEqual(order(lineup), ["[4 quiet]"]);
});

test("fresh knowledge sorts as soon as the pointer is away, not before", () => {
  const { store, happen } = node();
  const lineup = new Lineup();
  lineup.arrange(store, AT);
  happen(500, "a");
  lineup.held = true;
  lineup.renew();
  lineup.arrange(store, AT);
  assert.deepEqual(order(lineup), ["c", "b", "a"]);
  lineup.held = false;
  lineup.arrange(store, AT);
  assert.deepEqual(order(lineup), ["a", "c", "b"]);
});

test("the table has the pods in the same order, pinned ones first", () => {
  const { store } = troubled();
  const lineup = new Lineup();
  lineup.sort = "name";
  lineup.pins = ["data/redis-0"];
  assert.deepEqual(lineup.inOrder(store.lanes.values()).map((lane) => lane.uid), ["b", "a", "c"]);
});

test("while the pointer is in the table its pods stay too, until the reader wants another order", () => {
  const { play, store } = troubled();
  const lineup = new Lineup();
  lineup.sort = "slowest";
  const there = (held = true) => lineup.inOrder(store.lanes.values(), held).map((lane) => lane.uid).join("");
  assert.equal(there(false), "bac");
  play.found(1500, "c", "ContainerDied", { since_finished_ns: 900 * MS });
  play.pod(1600, "d", "cart-0", "shop");
  store.apply({ type: "batch", first: play.seq - 1, last: play.seq, records: play.records.slice(-2) });
  assert.equal(there(), "bacd");
  lineup.pins = ["shop/cart-0"];
  assert.equal(there(), "dcba");
  lineup.pins = [];
  assert.equal(there(false), "cbda");
});

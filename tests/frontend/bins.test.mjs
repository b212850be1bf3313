import assert from "node:assert/strict";
import { test } from "node:test";
import { Bins, RANK, TILE, cellsOf, fitting, joined } from "../../static/js/bins.js";
import { tally } from "../../static/js/legend.js";
import { layout } from "../../static/js/layout.js";
import { addOlder } from "../../static/js/minimap.js";
import { MS, Play, S, row, stored } from "./kit.mjs";

const MARKS = ["other", "stop", "calm", "req", "req_end", "poll", "poll_end", "dropped"];
const WIDTHS = [0.125 * S, 0.5 * S, 2 * S, 8 * S, 32 * S];
const HEADS = { ruler: 26, global: 30, stream: 24, queue: 0 };

/** A server whose pod `a` has a stop at each of `stops` (s), found a moment later; nothing else. */
function server({ stops = [], since = {}, t = 4000 * S, reading, began = 0, gone = [], stream = [{ t: 0, state: "connected", meaning: "It works.", code: null }] } = {}) {
  const asked = [];
  const answer = ({ width, from, to, pods }) => {
    const first = Math.floor(from / width);
    const bins = Math.ceil(to / width) - first;
    const flat = stops.flatMap((at) => {
      const place = Math.floor((at * S) / width) - first;
      return place < 0 || place >= bins ? [] : [place, 1, 1, place, 4, 1];
    });
    return {
      session: "s1", t: typeof t === "number" ? t : t(), marks: MARKS, known: WIDTHS.map((each) => [each, (since[each] ?? 0) * S]), width, first, bins, began, since: 0, ...(reading === undefined ? {} : { reading: reading() }),
      pods: Object.fromEntries(pods.includes("a") && flat.length ? [["a", flat]] : []), all: flat, relists: [0, 3, 7e6, 1], gone, stream, gaps: [],
    };
  };
  return { asked, ask: async (wanted) => { asked.push(wanted); return answer(wanted); } };
}

/** Bins of session s1 that have settled after each question. */
async function settled(source, shows) {
  let now = 0;
  const bins = new Bins({ ask: source.ask, changed: () => {}, setTimer: () => 0, clock: () => now });
  bins.meet("s1");
  let shown = null;
  for (const show of shows) {
    const [from, to, scale, uids] = show;
    shown = bins.show([[from, to]], scale, uids);
    for (let i = 0; i < 4; i += 1) await Promise.resolve();
    now += 10_000;
  }
  return { bins, shown };
}

test("of one cell the worst is seen, and what the legend hides is not", () => {
  const counts = [0, 3, 5, 0, 7, 1, 1, 2, 1, 2, 5, 1, 3, 1, 2];
  const { rank, said } = cellsOf(counts, MARKS, 1, new Set());
  assert.deepEqual([...rank.slice(0, 4)], [RANK.lost, RANK.calm, RANK.late, RANK.none]);
  assert.deepEqual([...said.slice(0, 4)], [0, 0, 0, 1]);
  assert.deepEqual([...cellsOf(counts, MARKS, 2, new Set()).rank.slice(0, 2)], [RANK.lost, RANK.late]);
  assert.deepEqual([...cellsOf(counts, MARKS, 1, new Set(["dropped", "poll", "stop"])).rank.slice(0, 3)], [RANK.found, RANK.calm, RANK.none]);
});

test("bins are as fine as can be seen, and never wider than the finest there is", () => {
  assert.equal(fitting(WIDTHS, 1 / S), 2 * S);
  assert.equal(fitting(WIDTHS, 0.2 / S), 8 * S);
  assert.equal(fitting(WIDTHS, 100 / S), 0.125 * S);
  for (let px = 0.75; px <= 3; px += 0.05) assert.ok(px * joined(px) >= 2 && px * joined(px) <= 4);
});

test("what is in view is asked for once, and again only for what is missing", async () => {
  const source = server({ stops: [10, 700] });
  const window = [0, 1200 * S, 1 / S];
  const { bins, shown } = await settled(source, [[...window, ["a"]], [...window, ["a"]], [...window, ["a"]], [...window, ["a", "b"]], [...window, ["b"]]]);
  assert.deepEqual(source.asked.map(({ pods }) => pods), [[], ["a"], ["a", "b"]]);
  assert.deepEqual([source.asked[1].from, source.asked[1].to], [0, 3 * TILE * 2 * S]);
  assert.deepEqual(shown, { width: 2 * S, n: 1, unknown: [], whole: true });
  assert.equal(bins.cells("a", 0, 1, new Set()).rank[5], RANK.found);
  assert.equal(bins.cells("a", 1, 1, new Set()).rank[350 - TILE], RANK.found);
  assert.equal(bins.cells("b", 1, 1, new Set()), null);
  assert.equal(bins.words("a", 10 * S, 2 * S), "1 found by request, 1 stop event");
  assert.equal(bins.words("a", 0, 1024 * S), "1 found by request, 1 stop event", "of one tile only");
  assert.equal(bins.words("a", 20 * S, 2 * S), "");
  assert.deepEqual(bins.count(0, 1200 * S), { stop: 2, req_end: 2 });
  assert.deepEqual(bins.legend(600 * S, 1200 * S), { stop: 1, req: 1, tail: 1 });
});

test("a tile that was not over is asked for again once more of it is wanted", async () => {
  const source = server({ t: 300 * S });
  await settled(source, [[0, 250 * S, 1 / S, []], [0, 250 * S, 1 / S, []], [0, 290 * S, 1 / S, []], [0, 310 * S, 1 / S, []]]);
  assert.equal(source.asked.length, 3);
});

test("where fine bins are not known any more, coarser ones are shown", async () => {
  const source = server({ since: { [0.125 * S]: 900, [0.5 * S]: 800, [2 * S]: 100 } });
  const near = await settled(source, [[950 * S, 960 * S, 24 / S, []], [950 * S, 960 * S, 24 / S, []], [950 * S, 960 * S, 24 / S, []]]);
  assert.equal(near.shown.width, 0.125 * S);
  const far = await settled(source, [[500 * S, 510 * S, 24 / S, []], [500 * S, 510 * S, 24 / S, []], [500 * S, 510 * S, 24 / S, []]]);
  assert.equal(far.shown.width, 2 * S);
  const farther = await settled(source, [[50 * S, 60 * S, 24 / S, []], [50 * S, 60 * S, 24 / S, []], [50 * S, 60 * S, 24 / S, []]]);
  assert.equal(farther.shown.width, 8 * S);
});

test("until the answer is here nothing is claimed, and while zooming the coarser picture stays", async () => {
  const source = server();
  const { bins, shown } = await settled(source, [[0, 1200 * S, 1 / S, []]]);
  assert.deepEqual([shown.unknown, shown.whole], [[[0, 1200 * S]], false]);
  bins.show([[0, 1200 * S]], 1 / S, []);
  for (let i = 0; i < 4; i += 1) await Promise.resolve();
  assert.deepEqual(bins.show([[0, 1200 * S]], 1 / S, []).unknown, []);
  const closer = bins.show([[0, 300 * S]], 4 / S, []);
  assert.deepEqual([closer.width, closer.unknown], [2 * S, []]);
});

test("another session's bins are forgotten, also those still on their way", async () => {
  const source = server();
  const { bins } = await settled(source, [[0, 1200 * S, 1 / S, []], [0, 1200 * S, 1 / S, []]]);
  assert.ok(bins.tiles.size > 0);
  bins.meet("s2");
  assert.deepEqual([bins.tiles.size, bins.known.length, bins.since], [0, 0, Infinity]);
  bins.show([[0, 1200 * S]], 1 / S, []);
  for (let i = 0; i < 4; i += 1) await Promise.resolve();
  assert.equal(bins.known.length, 0, "the answer was of s1");
});

test("a server that does not answer is asked again, and not at once", async () => {
  let now = 0;
  let tries = 0;
  const bins = new Bins({ ask: () => { tries += 1; return Promise.reject(new Error("no")); }, changed: () => {}, setTimer: () => 0, clock: () => now });
  bins.meet("s1");
  const show = async () => { bins.show([[0, S]], 1 / S, []); for (let i = 0; i < 4; i += 1) await Promise.resolve(); };
  await show();
  await show();
  assert.equal(tries, 1);
  now = 5000;
  await show();
  assert.equal(tries, 2);
});

test("what is kept is bounded", async () => {
  const source = server();
  const shows = Array.from({ length: 300 }, (_, i) => [i * 256 * 2 * S, (i * 256 + 200) * 2 * S, 1 / S, ["a"]]);
  const { bins } = await settled({ ...source, ask: async (wanted) => ({ ...await source.ask(wanted), t: 1e9 * S }) }, shows);
  assert.ok(bins.tiles.size <= 128, String(bins.tiles.size));
});

test("before the oldest record there are bins, hatched is only what nobody knows", async () => {
  const source = server({ stops: [10, 700], since: Object.fromEntries(WIDTHS.map((width) => [width, 5])) });
  const window = [0, 1200 * S, 1 / S, ["a"]];
  const { bins, shown } = await settled(source, [window, window, window]);
  const play = new Play();
  play.hint(1_200_000, "a");
  const store = stored(play, [row("a")], { truncated: true });
  const lane = store.lanes.get("a");
  const list = layout({
    store, rows: [{ lane, group: "default", pods: 1, y: 0, h: 26, tall: false }], from: 0, to: 1300 * S, scale: 1 / S, off: new Set(), chain: null,
    now: 1300 * S, label: 0, heads: HEADS, em: 1, quietFrom: 0, height: 400, older: { bins, width: shown.width, n: shown.n, spans: [[0, store.firstT]], unknown: shown.unknown, now: 1300 * S },
  });
  const cells = list.lanes.flat().filter((item) => item.k === "cells");
  assert.deepEqual(cells.map((item) => [item.x, item.w, item.x2]), [[0, 2, 1200], [512, 2, 1200]]);
  const hatch = list.lanes.flat().filter((item) => item.k === "hatch");
  assert.deepEqual(hatch.map((item) => [item.x, item.x2, item.text]), [[0, 5, "older records are not on this page"]]);
  const heads = list.rows.flat().map((item) => `${item.c ?? item.k}@${Math.round(item.x)}`);
  assert.ok(heads.includes("failed@0"), heads.join());
  const [older] = list.rows.flat().filter((item) => item.k === "stream" && item.x2 !== Infinity);
  assert.equal(older, undefined, "the header's state says since when it is connected");
});

test("a recording is shown before and after what is here, as far as it has been read, and fills by itself", async () => {
  let now = 0;
  let t = 300 * S;
  const timers = [];
  const source = server({ stops: [10, 700, 900], t: () => t, reading: () => t < 1000 * S });
  const bins = new Bins({ ask: source.ask, changed: () => {}, setTimer: (call, ms) => { timers.push(ms); return 0; }, clock: () => now });
  bins.meet("s1");
  const spans = [[0, 500 * S], [600 * S, 1000 * S]];
  const show = async () => {
    bins.show(spans, 1 / S, ["a"]);
    for (let i = 0; i < 4; i += 1) await Promise.resolve();
    now += 100;
    return bins.show(spans, 1 / S, ["a"]);
  };
  for (let i = 0; i < 3; i += 1) await show();
  const half = await show();
  assert.deepEqual([half.unknown, half.whole], [[[300 * S, 500 * S], [600 * S, 1000 * S]], false]);
  assert.ok(timers.includes(1001), "it looks again by itself");
  const { length } = source.asked;
  await show();
  assert.equal(source.asked.length, length, "but not at once");
  const older = { bins, width: half.width, n: half.n, spans, unknown: half.unknown, now: 600 * S };
  const store = stored(new Play(), [row("a")]);
  const drawn = (given) => layout({
    store, rows: [{ lane: store.lanes.get("a"), group: "default", pods: 1, y: 0, h: 26, tall: false }], from: 0, to: 1000 * S, scale: 1 / S, off: new Set(), chain: null,
    now: 600 * S, label: 0, heads: HEADS, em: 1, quietFrom: 0, height: 400, older: given,
  });
  const hatches = (list) => list.lanes.flat().filter((item) => item.k === "hatch").map((item) => [Math.round(item.x), Math.round(item.x2), item.text]);
  assert.deepEqual(hatches(drawn(older)), [[300, 500, "not read yet"], [600, 1000, "not read yet"]]);
  t = 1000 * S;
  now += 2000;
  for (let i = 0; i < 3; i += 1) await show();
  const whole = await show();
  assert.deepEqual([whole.unknown, whole.whole, bins.reading], [[], true, false]);
  const list = drawn({ ...older, unknown: whole.unknown });
  assert.deepEqual(hatches(list), []);
  const cells = list.lanes.flat().filter((item) => item.k === "cells");
  assert.deepEqual(cells.map((item) => [item.x, item.x1, item.x2].map(Math.round)), [[0, 0, 500], [512, 600, 1000]], "and never over what is here");
  const bars = list.rows.flat().filter((item) => item.k === "failed");
  assert.ok(bars.every((item) => item.x2 <= 500 || item.x >= 600));
  bins.until = 800 * S;
  assert.deepEqual(hatches(drawn({ ...older, unknown: [[800 * S, 1000 * S]] })), [[800, 1000, "not counted: there was no room for more"]]);
});

test("a pod that comes after the cursor has a lane while its time is in view", () => {
  const play = new Play();
  const store = stored(play, [row("a")]);
  const pod = { uid: "late", name: "web-9", namespace: "shop", seen_t: 9 * S, gone_t: null };
  store.remember(pod, true);
  const lane = store.lanes.get("late");
  assert.deepEqual([lane.name, lane.ahead, lane.goneT], ["web-9", true, Infinity]);
  store.forgetAhead(9 * S);
  assert.ok(store.lanes.has("late"));
  store.forgetAhead(8 * S);
  assert.ok(!store.lanes.has("late"));
  store.remember(pod, true);
  play.stop(9000, "late");
  store.apply({ type: "batch", first: store.lastSeq + 1, last: play.records.at(-1).seq, records: play.records.filter((rec) => rec.seq > store.lastSeq) });
  assert.deepEqual([store.lanes.get("late").ahead, store.lanes.get("late").goneT], [false, null]);
});

test("pods that were gone before have a lane when their time is in view", () => {
  const store = stored(new Play(), [row("a")]);
  store.remember({ uid: "old", name: "web-1", namespace: "shop", seen_t: S, gone_t: 9 * S });
  store.remember({ uid: "a", name: "other", namespace: "shop", seen_t: S, gone_t: 9 * S });
  assert.deepEqual([store.lanes.get("old").name, store.lanes.get("old").goneT, store.lanes.get("a").goneT], ["web-1", 9 * S, null]);
});

test("the strip counts ends of the older time", () => {
  const found = new Uint32Array(10);
  const late = new Uint32Array(10);
  const cut = { marks: MARKS, width: 10 * S, first: 0, all: [0, 4, 3, 0, 1, 9, 4, 6, 2, 9, 4, 7] };
  addOlder(cut, 90 * S, 0, 100 * S, found, late);
  assert.deepEqual([found[0], late[4], found[9]], [3, 2, 0]);
});

test("the legend counts the same in one look as in many", () => {
  const play = new Play();
  for (let n = 0; n < 600; n += 1) {
    if (n % 9 === 2) play.stop(n * 10, "a", { outcome: ["dropped", "held"][n % 2] });
    else play.hint(n * 10, "a");
  }
  const store = stored(play, [row("a")]);
  const parts = {};
  for (let from = 0; from < 6000; from += 50) {
    for (const [id, n] of Object.entries(tally(store, from * MS, (from + 50) * MS - 1))) parts[id] = (parts[id] ?? 0) + n;
  }
  const { gap, down, ...whole } = tally(store, 0, 6000 * MS);
  assert.ok(whole.stop > 500 && whole.dropped > 10 && whole.held > 10 && !gap && !down);
  for (const [id, n] of Object.entries(whole)) assert.equal(parts[id], n, id);
  assert.deepEqual(tally(store, 0, 6000 * MS), tally(store, 0, 6000 * MS));
  assert.equal(tally(store, 0, 6000 * MS, { stop: 5 }).stop, whole.stop + 5);
});

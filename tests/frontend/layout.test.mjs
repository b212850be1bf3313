import assert from "node:assert/strict";
import { test } from "node:test";
import { chainOf } from "../../static/js/chain.js";
import { hit, layout } from "../../static/js/layout.js";
import { barHeight, rulerMarks } from "../../static/js/layout-heads.js";
import { geometry } from "../../static/js/layout-lane.js";
import { MS, Play, S, row, state, stored } from "./kit.mjs";

const HEADS = { ruler: 26, global: 30, stream: 24, queue: 0 };

/** One lane of 26 px, one px per ms. @param {import("../../static/js/store.js").Store} store */
function lay(store, { to = 1000, off = new Set(), uid = "a", chain = null, now = 10_000, tall = false } = {}) {
  const lane = store.lanes.get(uid);
  const rows = lane ? [{ lane, group: "default", pods: 1, y: 0, h: tall ? 136 : 26, tall }] : [];
  return layout({ store, rows, from: 0, to: to * MS, scale: 1 / MS, off, chain, now: now * MS, label: 0, heads: HEADS, em: 1, quietFrom: 0, height: 400 });
}

/** What is drawn in the lanes, briefly: kind or shape at x, to x2. @param {ReturnType<typeof lay>} list */
const brief = (list) => list.lanes.flat().map((item) => `${item.c ?? item.k}@${Math.round(item.x)}${item.x2 === undefined ? "" : `-${item.x2 === Infinity ? "now" : Math.round(item.x2)}`}`);

test("a hint's chain, golden: back to front, cause down and to the right", () => {
  const play = new Play();
  play.pod(0, "a");
  play.begin(1);
  play.found(2, "a", "ContainerStarted", { baseline: true });
  play.cached(2, "a", 1, ["a-c"]);
  play.end(6, 1);
  play.hint(100, "a");
  const list = lay(stored(play, [row("a")]));
  assert.deepEqual(brief(list), [
    "band@1-6", "run@2-105", "dots@105-now", "tail@100-105", "wait@100-103", "relist@103-106", "started-calm@2", "died-req@105", "stop@100",
  ]);
  const { s, said, asked, found } = geometry(26);
  const at = (/** @type {string} */ shape) => list.lanes.flat().find((item) => item.c === shape);
  assert.deepEqual([at("stop").y, at("died-req").y, at("stop").s], [said, found, s]);
  assert.ok(said < asked && asked < found);
});

test("a container folded out: what was said and found of it alone, and when it ran", () => {
  const play = new Play();
  const c = (/** @type {string} */ name, state = "running") => ({ id: `a-${name}`, name, attempt: 0, runtime_state: state });
  play.pod(0, "a");
  play.rec("pod_cached", 10, { uid: "a", name: "a", namespace: "x", relist: 1, containers: [c("side"), c("main")] });
  play.hint(100, "a");
  play.rec("pod_cached", 106, { uid: "a", name: "a", namespace: "x", relist: 2, containers: [c("side"), c("main", "exited")] });
  play.rec("stream_event", 200, { uid: "a", type: "started", container_id: "a-late", container_name: "late", is_sandbox: false, backlog: false, event: 9 });
  play.rec("pod_cached", 210, { uid: "a", name: "a", namespace: "x", relist: 3, containers: [c("late"), c("side"), c("main", "exited")] });
  const store = stored(play);
  const lane = store.lanes.get("a");
  const draw = (/** @type {string} */ name) => {
    const rows = [{ lane, group: "x", pods: 1, y: 26, h: 20, tall: false, part: lane.parts.get(name) }];
    return layout({ store, rows, from: 0, to: 1000 * MS, scale: 1 / MS, off: new Set(), chain: null, now: 1000 * MS, label: 0, heads: HEADS, em: 1, quietFrom: 0, height: 400 });
  };
  assert.deepEqual(brief(draw("main")).filter((item) => !item.startsWith("band") && !item.startsWith("hair")), ["run@10-105", "dots@105-106", "dots@106-210", "dots@210-now", "tail@100-105", "died-req@105", "stop@100"]);
  assert.deepEqual(brief(draw("side")).filter((item) => item.startsWith("run")), ["run@10-105", "run@106-210", "run@210-now"]);
  assert.deepEqual(brief(draw("late")), ["run@210-now", "tick@200"]);
  const marks = draw("main").lanes.flat();
  assert.ok(marks.every((item) => item.uid === undefined && item.y > 26 && item.y <= 46), "the cursor goes by the pod's own lane");
  assert.equal(hit(draw("main").lanes, 105, 26 + 0.74 * 20, 1000).seq, lane.finds[0].seq);
});

test("baseline findings are quiet", () => {
  const play = new Play();
  play.begin(1);
  play.found(2, "a", "ContainerStarted", { baseline: true });
  const item = lay(stored(play)).lanes.flat().find((each) => each.c === "started-calm");
  assert.equal(item.dim, true);
});

test("held, coalesced, dropped and skipped have shapes of their own", () => {
  const play = new Play();
  play.rec("sync_started", 10, { uid: "a" });
  const first = play.stop(20, "a", { outcome: "held", id: "1" });
  play.stop(40, "a", { outcome: "coalesced", id: "2" });
  play.moved(60, "a", "released", { request: first.request });
  play.rec("sync_finished", 60, { uid: "a", duration_ns: 50 * MS, did_work: true, failed: false, held: 1 });
  play.stop(80, "a", { outcome: "dropped", id: "3" });
  play.stop(100, "a", { id: "4" });
  play.moved(120, "a", "skipped", { relist: 3 });
  const drawn = brief(lay(stored(play)));
  for (const item of ["sync@10-60", "heldline@20-60", "held@20", "coalesced@40", "wait@60-now", "dropped@80", "wait@100-120", "skipped@120"]) assert.ok(drawn.includes(item), `${item} in ${drawn}`);
});

test("a stop that nobody found is unnoticed up to now", () => {
  const play = new Play();
  play.stop(20, "a");
  const drawn = brief(lay(stored(play)));
  assert.ok(drawn.includes("tail@20-now") && drawn.includes("wait@20-now"));
});

test("what the legend hides is not drawn", () => {
  const play = new Play();
  play.hint(100, "a");
  const drawn = brief(lay(stored(play), { off: new Set(["stop", "req", "tail", "wait", "relist", "running", "global"]) }));
  assert.deepEqual(drawn, []);
});

test("only several findings of one relist fan out", () => {
  const play = new Play();
  play.begin(50);
  play.found(60, "a", "ContainerDied", { container_id: "1" });
  play.found(60, "a", "ContainerRemoved", { container_id: "1" });
  play.begin(61);
  play.found(62, "a", "ContainerStarted", { container_id: "2" });
  const found = lay(stored(play)).lanes.flat().filter((item) => item.k === "glyph");
  const { s } = geometry(26);
  assert.deepEqual(found.map((item) => [item.c, item.x]), [["removed-calm", 60 + s * 0.95], ["started-poll", 62], ["died-poll", 60]]);
});

test("a clean-up that the poll found is a grey square, also in bins, and hidden by its own kind", () => {
  const play = new Play();
  play.begin(50);
  play.found(60, "a", "ContainerRemoved", { container_id: "1" });
  assert.ok(brief(lay(stored(play), { off: new Set(["poll"]) })).includes("removed-calm@60"));
  assert.ok(!brief(lay(stored(play), { off: new Set(["calm"]) })).includes("removed-calm@60"));
});

test("believed events are triangles at their own time, never nudged; refused ones are struck through", () => {
  const play = new Play();
  for (const [ms, id] of [[60, "1"], [80, "2"]]) {
    play.found(ms, "a", "ContainerDied", { source: "evented_pleg", relist: 0, container_id: id });
    play.found(ms, "a", "ContainerRemoved", { source: "evented_pleg", relist: 0, container_id: id });
  }
  play.rec("event_refused", 90, { uid: "a", type: "stopped", container_id: "3", behind_ns: 4 * MS });
  const list = lay(stored(play));
  const { s } = geometry(26);
  const marks = list.lanes.flat().filter((item) => item.k === "glyph").map((item) => [item.c, item.x]).sort((a, b) => a[1] - b[1]);
  assert.deepEqual(marks, [["died-event", 60], ["removed-event", 60 + s * 0.95], ["died-event", 80], ["removed-event", 80 + s * 0.95], ["ignored", 90]]);
});

test("the queue's row has a step per length, the higher the longer", () => {
  const play = new Play();
  for (const [ms, depth] of [[10, 1], [20, 2], [30, 40]]) play.rec("request", ms, { request: ms, uid: "a", source: "post_sync", event: null, outcome: "queued", depth });
  play.begin(50, { scope: "pod", source: "post_sync", uid: "a", request: 10 });
  const store = stored(play);
  const at = (/** @type {number} */ queue) => layout({ store, rows: [], from: 0, to: 1000 * MS, scale: 1 / MS, off: new Set(), chain: null, now: S, label: 0, heads: { ...HEADS, queue }, em: 1, quietFrom: 0, height: 400 }).rows.flat().filter((item) => item.k === "queue");
  assert.deepEqual(at(0), []);
  const steps = at(22);
  assert.deepEqual(steps.map((item) => [item.x, item.x2]), [[10, 20], [20, 30], [30, 50], [50, Infinity]]);
  assert.ok(steps[0].h < steps[2].h && steps[3].h <= steps[2].h);
});

test("faults have a row: from when to when, named where there is room", () => {
  const play = new Play();
  const note = (/** @type {number} */ ms, /** @type {string} */ text) => play.rec("note", ms, { level: "info", text });
  note(100, "Fault begins: lists-slow. It imitates: x");
  note(110, "Fault begins: stream-ends. It imitates: x");
  note(500, "Fault is over: lists-slow.");
  note(600, "Pressed: Out of memory (shop/web). It imitates: x");
  const store = stored(play);
  const at = (/** @type {number} */ faults, now = S) => layout({ store, rows: [], from: 0, to: 1000 * MS, scale: 1 / MS, off: new Set(), chain: null, now, label: 0, heads: { ...HEADS, faults }, em: 1, quietFrom: 0, height: 400 }).rows.flat();
  assert.deepEqual(at(0).filter((item) => item.k === "fault"), []);
  const drawn = at(22);
  assert.deepEqual(drawn.filter((item) => item.k === "fault").map((item) => [item.x, item.x2, item.seq]), [[100, 500, 1], [110, Infinity, 2], [600, 600, 4]]);
  assert.ok(drawn.filter((item) => item.k === "fault").every((item) => item.y > 80 && item.y < 102));
  // The second begins where the name of the first stands: it is counted there.
  assert.deepEqual(drawn.filter((item) => item.k === "text" && item.y > 80).map((item) => item.text), ["lists slow and 1 more", "Out of memory (shop/web)"]);
  // Nothing is written over the present: rather before the fault began, as long as there is room.
  const [, late] = at(22, 640 * MS).filter((item) => item.k === "text" && item.y > 80);
  assert.ok(late.x > 270 && late.x + late.text.length * 7 <= 640, String(late.x));
});

test("a relist that is wide, or still runs, covers no other's number", () => {
  const play = new Play();
  for (let n = 0; n < 10; n += 1) play.global(n * 20);
  const numbers = () => lay(stored(play)).rows.flat().filter((item) => item.k === "text" && item.text?.startsWith("#")).map((item) => item.text);
  assert.deepEqual(numbers(), ["#10"]);
  play.begin(200);
  assert.deepEqual(numbers(), []);
});

test("an outage with a try that held for a moment is one, and says how long it was", () => {
  const play = new Play();
  const stream = (/** @type {number} */ ms, /** @type {string} */ phase) => play.rec("stream", ms, { state: phase, meaning: "", code: phase === "connected" ? null : "eof" });
  stream(0, "connected");
  stream(1000, "waiting");
  stream(4600, "connected");
  stream(4610, "waiting");
  stream(11_000, "connected");
  const store = stored(play);
  const drawn = layout({ store, rows: [], from: 0, to: 12 * S, scale: 100 / S, off: new Set(), chain: null, now: 12 * S, label: 0, heads: HEADS, em: 1, quietFrom: 0, height: 400 }).rows.flat();
  assert.deepEqual(drawn.filter((item) => item.k === "text" && item.text?.startsWith("no hints")).map((item) => item.text?.replaceAll("\u00a0", " ")), ["no hints for 10 s"]);
});

test("the session's first try to connect is neither up nor down", () => {
  const play = new Play();
  play.rec("stream", 100, { state: "connecting", meaning: "" });
  const opening = lay(stored(play, [], { now: state({ stream: { ...state().engine.stream, state: "connecting" } }) }), { now: 1000 });
  assert.deepEqual(opening.rows[3].map((item) => item.k), ["alone"]);
  assert.equal(opening.lanes[0].length, 0);
  play.rec("stream", 300, { state: "waiting", meaning: "", code: "eof" });
  const down = lay(stored(play));
  assert.ok(down.rows[3].map((item) => item.k).includes("down"));
  assert.equal(down.lanes[0].length, 1);
});

test("a filtered finding is not drawn, a discarded one is crossed out", () => {
  const play = new Play();
  play.begin(50);
  play.found(60, "a", "ContainerChanged", { delivery: "filtered" });
  play.found(70, "a", "ContainerDied", { delivery: "discarded", container_id: "9" });
  const drawn = brief(lay(stored(play))).filter((item) => !item.startsWith("@"));
  assert.deepEqual(drawn, ["died-poll@70", "dropped@70"]);
});

test("far out, marks on one pixel are drawn once", () => {
  const play = new Play();
  for (let i = 0; i < 4000; i += 1) play.rec("stream_event", i / 10, { type: "created", uid: "a", container_id: `${i}`, event: i, is_sandbox: false });
  const ticks = lay(stored(play)).lanes.flat().filter((item) => item.k === "tick");
  assert.ok(ticks.length <= 520, String(ticks.length));
});

test("things that began before the window are drawn into it", () => {
  const play = new Play();
  play.rec("sync_started", 10, { uid: "a" });
  play.rec("sync_finished", 9000, { uid: "a", duration_ns: 8990 * MS, did_work: true, failed: false, held: 0 });
  const store = stored(play);
  const list = layout({ store, rows: [{ lane: store.lanes.get("a"), group: "", pods: 1, y: 0, h: 26, tall: false }], from: 5000 * MS, to: 6000 * MS, scale: 1 / MS, off: new Set(), chain: null, now: 9 * S, label: 0, heads: HEADS, em: 1, quietFrom: 0, height: 100 });
  assert.ok(brief(list).includes("sync@-4990-4000"));
});

test("what began long before the window and has not ended is drawn to the present", () => {
  const play = new Play();
  play.begin(5);
  play.rec("sync_started", 10, { uid: "a" });
  play.ask(20, "a");
  play.begin(30, { scope: "pod", source: "post_sync", uid: "a" });
  const store = stored(play);
  const list = layout({ store, rows: [{ lane: store.lanes.get("a"), group: "", pods: 1, y: 0, h: 26, tall: false }], from: 100 * S, to: 101 * S, scale: 1 / MS, off: new Set(), chain: null, now: 101 * S, label: 0, heads: HEADS, em: 1, quietFrom: 0, height: 100 });
  const open = list.lanes.flat().filter((item) => item.x2 === Infinity).map((item) => item.k);
  assert.deepEqual(open, ["band", "sync", "wait", "own"]);
});

test("global relists: one band each, every tenth numbered, long ones say how long", () => {
  const play = new Play();
  for (let i = 0; i < 12; i += 1) play.global(i * 70, i === 3 ? 130 : 5);
  const list = lay(stored(play), { uid: "none" });
  assert.equal(list.lanes[1].length, 12);
  assert.deepEqual(list.rows.flat().filter((item) => item.k === "text").map((item) => item.text.replaceAll("\u00a0", " ")).filter(Boolean).sort(), ["#10", "#4  130 ms", "plegscope began to watch here"].sort());
});

test("a relist in progress turns amber, then red", () => {
  for (const [now, color] of [[10_000, "glob"], [45_000, "late"], [200_000, "bad"]]) {
    const play = new Play();
    play.begin(500);
    const progress = lay(stored(play), { now }).rows.flat().find((item) => item.k === "progress");
    assert.equal(progress.c, color);
    assert.equal(progress.x2, Infinity);
  }
});

test("hatches: gaps with their length, and what is older than the page knows", () => {
  const play = new Play();
  play.rec("gap", 500, { hop: "journal", count: 7, from_t: 300 * MS, reason: "full" });
  const list = lay(stored(play, [], { truncated: true }));
  assert.deepEqual(list.lanes[12].map((item) => [item.text.replaceAll("\u00a0", " "), item.x2]), [["older records are not on this page", 500], ["not known here, 200 ms", 500]]);
});

test("stream: connected is a line, down a dashed one with tries and a tint, none is dots without either", () => {
  const play = new Play();
  play.rec("stream", 0, { state: "connected", meaning: "" });
  play.rec("stream", 300, { state: "waiting", meaning: "", code: "eof" });
  play.rec("stream", 400, { state: "connecting", meaning: "" });
  const list = lay(stored(play));
  assert.deepEqual(list.rows[3].map((item) => item.k), ["stream", "down"]);
  assert.deepEqual(list.rows[8].map((item) => [item.k, item.x]), [["try", 400]]);
  assert.equal(list.lanes[0].length, 1);
  const none = new Play();
  none.rec("stream", 0, { state: "waiting", meaning: "", code: "unimplemented" });
  const quiet = lay(stored(none));
  assert.deepEqual([quiet.rows[3].map((item) => item.k), quiet.lanes[0].length], [["alone"], 0]);
});

test("a selected chain says each hop's time, and others step back", () => {
  const play = new Play();
  play.pod(0, "a");
  const { found } = play.hint(100, "a");
  const store = stored(play, [row("a"), row("b")]);
  const chain = chainOf(store, found.seq);
  const list = lay(store, { chain, tall: true });
  const words = list.lanes[11].filter((item) => item.k === "say").map((item) => item.text.replaceAll("\u00a0", " "));
  assert.deepEqual(words, ["stop event: main, exit 137", "waited 3.0 ms, relist 2.0 ms", "ContainerDied, 5.0 ms after the stop", "by polling: 695 ms later"]);
  assert.equal(list.lanes[11].filter((item) => item.k === "elbow").length, 2);
  assert.equal(list.lanes[11].find((item) => item.c === "bypoll").x, 800);
  const other = lay(store, { chain, uid: "b" }).lanes.flat().filter((item) => item.uid === "b");
  assert.ok(other.length > 0 && other.every((item) => item.dim));
});

test("a selected death says when the container ran again, where there is room for the words", () => {
  const play = new Play();
  play.pod(0, "a");
  const { found } = play.hint(100, "a");
  play.rec("sync_started", 110, { uid: "a" });
  const words = (/** @type {number} */ ms) => {
    const more = new Play();
    more.records = [...play.records];
    more.seq = play.seq;
    more.relist = play.relist;
    more.begin(ms - 2, { scope: "pod", source: "post_sync", uid: "a" });
    more.found(ms, "a", "ContainerStarted", { source: "post_sync", container_id: "a-2" });
    const store = stored(more, [row("a")]);
    const list = lay(store, { chain: chainOf(store, found.seq), tall: true, to: 3000 });
    return list.lanes[11].filter((item) => item.k === "say").map((item) => item.text.replaceAll("\u00a0", " "));
  };
  assert.ok(words(1900).includes("ContainerStarted, 1.8 s later"));
  assert.ok(!words(300).some((text) => text.startsWith("ContainerStarted")), "on the words of the death");
  assert.ok(!words(850).some((text) => text.startsWith("ContainerStarted")), "on the mark of the poll");
});

test("under the pointer is the topmost mark", () => {
  const play = new Play();
  play.pod(0, "a");
  const { stop, found } = play.hint(100, "a");
  const { lanes } = lay(stored(play, [row("a")]));
  const g = geometry(26);
  assert.equal(hit(lanes, 101, g.said, 999)?.seq, stop.seq);
  assert.equal(hit(lanes, 106, g.found, 999)?.seq, found.seq);
  assert.equal(hit(lanes, 500, g.said, 999), null);
});

test("bars grow with the logarithm", () => {
  const [ms, s, minutes] = [1e6, 1e9, 180e9].map((ns) => barHeight(ns, 20));
  assert.ok(ms < s && s < minutes && minutes === 20);
});

test("the ruler has round steps, and counts from its first mark when close in", () => {
  const say = (/** @type {number} */ wall, /** @type {number} */ digits) => `${wall / S}s${digits}`;
  assert.deepEqual(rulerMarks(1 * S, 61 * S, 1000, 1, say).map((mark) => mark.text), ["10s0", "20s0", "30s0", "40s0", "50s0", "60s0"]);
  const fine = rulerMarks(1.0001 * S, 1.0401 * S, 1000, 1, say).map((mark) => mark.text.replaceAll("\u00a0", " "));
  assert.deepEqual(fine.slice(0, 3), ["1.005s3", "+5.0 ms", "+10 ms"]);
});

test("a crowded lane becomes bins: the worst of a cell wins, and nothing important disappears", () => {
  const play = new Play();
  for (let i = 0; i < 400; i += 1) play.hint(i * 2, "a");
  play.stop(401, "a", { id: "lost", outcome: "dropped" });
  play.begin(600);
  play.found(600, "a", "ContainerDied", { container_id: "late" });
  const items = lay(stored(play)).lanes.flat().filter((item) => item.k === "bin" || item.k === "glyph");
  assert.ok(items.every((item) => item.k === "bin"), "no marks");
  assert.ok(items.length < 2 * (1000 / 3));
  const [lost, late, found] = ["lost", "late", "found"].map((color) => items.filter((item) => item.c === color));
  assert.deepEqual([lost.length, late.length], [1, 1]);
  assert.ok(lost[0].h > found[0].h && late[0].h === lost[0].h);
  assert.ok(items.some((item) => item.c === "said"));
  assert.ok(items.every((item) => item.seq));
});

test("a burst in a quiet lane stays marks", () => {
  const play = new Play();
  for (let i = 0; i < 20; i += 1) play.hint(i * 5, "a");
  assert.ok(lay(stored(play)).lanes.flat().every((item) => item.k !== "bin"));
});

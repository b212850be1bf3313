/**
 * Golden draw lists: what is drawn of a fixed play at given zooms, shape by shape, compared exactly.
 * After a wanted change: `PLEGSCOPE_GOLDEN=write node --test tests/frontend/painter.test.mjs`, and
 * read the difference.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { Bins } from "../../static/js/bins.js";
import { chainOf } from "../../static/js/chain.js";
import { layout } from "../../static/js/layout.js";
import { rulerMarks } from "../../static/js/layout-heads.js";
import { Painter } from "../../static/js/painter.js";
import { SHAPES } from "../../static/js/shapes.js";
import { PALETTE, browser, recorder } from "./drawn.mjs";
import { MS, Play, S, row, state, stored } from "./kit.mjs";

const made = browser();
const HEADS = { ruler: 26, global: 30, stream: 24, queue: 22, faults: 22 };
const TOP = 124;
const WIDTH = 600;

/** Compare with the file, or write it. @param {string} name @param {string[]} lines */
function golden(name, lines) {
  const file = new URL(`golden/${name}.txt`, import.meta.url);
  const text = `${lines.join("\n")}\n`;
  if (process.env.PLEGSCOPE_GOLDEN === "write") writeFileSync(file, text);
  assert.deepEqual(lines, readFileSync(file, "utf8").trimEnd().split("\n"), `${name}: see the head of this test`);
}

/** A node on which everything happens that has a mark of its own, in 3 s. */
function everything() {
  const play = new Play();
  for (const uid of ["web", "db", "job"]) play.pod(0, uid, `${uid}-1`, uid === "db" ? "data" : "shop");
  play.begin(5);
  for (const uid of ["web", "db", "job"]) {
    play.found(10, uid, "ContainerStarted", { baseline: true });
    play.cached(10, uid, 1, [`${uid}-c`], { name: `${uid}-1`, namespace: "shop" });
  }
  play.end(12, 5);
  play.hint(200, "web");
  play.rec("stream_event", 260, { event: 90, type: "started", uid: "web", container_id: "web-d", container_name: "main", is_sandbox: false, created_at: 0, latency_ns: MS, backlog: false, request: null });
  play.rec("sync_started", 400, { uid: "db" });
  const held = play.stop(450, "db", { outcome: "held" });
  play.stop(520, "db", { outcome: "coalesced", id: "db-x" });
  play.moved(700, "db", "released", { request: held.request });
  play.rec("sync_finished", 700, { uid: "db", duration_ns: 300 * MS, did_work: true, failed: false, held: 1 });
  play.moved(760, "db", "skipped", { request: held.request, relist: 3 });
  play.stop(800, "job", { outcome: "dropped" });
  play.rec("event_ignored", 900, { event: 91, type: "stopped", container_id: "x", reason: "missing_uid" });
  play.rec("event_refused", 950, { uid: "job", type: "stopped", container_id: "x", behind_ns: 1 });
  play.begin(1000);
  play.found(1100, "job", "ContainerDied", { stop_t: 800 * MS });
  play.found(1100, "job", "ContainerRemoved");
  play.found(1100, "web", "ContainerStarted", { delivery: "discarded" });
  play.end(1150, 1000);
  play.rec("note", 1200, { text: "Fault begins: storm. It imitates: a crowd." });
  play.rec("stream", 1300, { state: "waiting", meaning: "It broke.", code: "unavailable" });
  play.rec("stream", 1400, { state: "connecting", meaning: "Again.", code: null });
  play.rec("stream", 1500, { state: "connected", meaning: "It works." });
  play.rec("gap", 1700, { hop: "stream", count: 3, from_t: 1600 * MS, reason: "It was slow." });
  play.rec("note", 1800, { text: "Fault is over: storm." });
  const own = play.ask(1900, "web");
  play.begin(1905, { scope: "pod", source: "post_sync", uid: "web", request: own, waited: 5 * MS });
  play.end(1990, 1905, { scope: "pod", source: "post_sync", uid: "web", request: own });
  play.begin(2000);
  play.end(2900, 2000, { ok: false });
  play.stop(2950, "db", { id: "db-late" });
  play.begin(2960);
  return play;
}

/**
 * What is drawn of a store between two times (ms).
 * @param {import("../../static/js/store.js").Store} store @param {number} from @param {number} to
 */
function draw(store, from, to, { seq = null, older = null, narrow = false, frozen = "", end = null } = {}) {
  const lines = [];
  const scale = WIDTH / ((to - from) * MS);
  const now = 3000 * MS;
  const chain = seq === null ? null : chainOf(store, seq);
  let y = 0;
  const rows = [...store.lanes.values()].map((lane) => {
    const tall = chain?.lane === lane;
    const one = { lane, group: lane.namespace, pods: 1, y, h: tall ? 136 : 26, tall };
    y += one.h;
    return one;
  });
  const list = layout({
    store, rows: /** @type {any} */ (rows), from: from * MS, to: to * MS, scale, off: new Set(), chain, now, label: narrow ? 18 : 0, heads: HEADS, em: 1,
    quietFrom: from * MS, height: 300, older,
  });
  const painter = new Painter(recorder("", lines), PALETTE);
  painter.paint(list, /** @type {any} */ ({
    width: WIDTH, height: TOP + 300, top: TOP, scroll: 0, shift: 0, nowX: (now - from * MS) * scale, now, em: 1, lanes: rows, heads: HEADS, focus: null,
    ruler: rulerMarks(from * MS, to * MS, WIDTH, 1, (wall, digits) => (wall / 1e9).toFixed(digits)).map((mark) => ({ x: (mark.at - from * MS) * scale, text: mark.text })),
    narrow, frozen, cursorX: null, endX: end === null ? null : (end - from) * MS * scale,
  }));
  return lines;
}

/** Pictures are numbered as they are made: named by what they show, so that one more moves no other. @param {string[]} lines */
function named(lines) {
  const shapes = Object.keys(SHAPES);
  const look = new Map();
  for (const shape of shapes) {
    const drawn = [];
    SHAPES[shape](recorder("", drawn), 0, 0, 9, PALETTE);
    look.set(drawn.map((line) => line.split(" ")[0] + (line.match(/ [a-z][a-z0-9-]*( |$)/)?.[0] ?? "")).join(), shape);
  }
  return lines.map((line) => line.replace(/picture(\d+)/, (_all, number) => {
    const drawn = made[Number(number)].lines.filter((/** @type {string} */ each) => !each.startsWith("scale"));
    return look.get(drawn.map((/** @type {string} */ each) => each.split(" ")[0] + (each.match(/ [a-z][a-z0-9-]*( |$)/)?.[0] ?? "")).join()) ?? "other";
  }));
}

const store = () => stored(everything(), [row("web"), row("db", { syncing: false }), row("job")], { now: state({ t: 3000 * MS }) });

test("3 s in view: every mark there is", () => golden("everything", named(draw(store(), 0, 3000))));

test("100 ms in view: a chain, hop by hop", () => golden("close", named(draw(store(), 180, 280))));

test("a selected chain, on a narrow screen", () => {
  const kept = store();
  const [stop] = kept.lanes.get("web").stops;
  golden("selected", named(draw(kept, 150, 350, { seq: stop.seq, narrow: true })));
});

test("the picture has frozen", () => golden("frozen", named(draw(store(), 2000, 3400, { frozen: "frozen" }))));

test("what comes after the end of a recording is not known", () => {
  const plain = named(draw(store(), 2000, 3400));
  const ended = draw(store(), 2000, 3400, { end: 3000 });
  const edge = Math.round((WIDTH * 1000) / 1400);
  assert.ok(ended.some((line) => line.startsWith(`fillRect ${edge} 26 1 `) && line.endsWith(" lost")), ended.slice(-14).join("\n"));
  assert.deepEqual(named(draw(store(), 2000, 3400, { end: 3500 })), plain);
});

test("from afar a crowded lane is bins", () => {
  const play = new Play();
  play.pod(0, "web");
  for (let n = 0; n < 150; n += 1) {
    if (n % 40 === 7) play.stop(n * 7, "web", { outcome: "dropped" });
    else play.hint(n * 7, "web");
  }
  golden("crowded", named(draw(stored(play, [row("web")]), 0, 1100)));
});

test("before the oldest record there are bins from the server", async () => {
  const cut = {
    session: "s1", t: 3000 * MS, marks: ["stop", "req_end", "poll_end", "dropped"], known: [[125 * MS, 250 * MS]], width: 125 * MS, first: 0, bins: 256,
    began: 0, since: 250 * MS, pods: { web: [3, 0, 1, 3, 1, 2, 5, 2, 1, 6, 1, 4, 6, 3, 1] }, all: [3, 1, 2, 5, 2, 1], relists: [4, 1, 3 * MS, 0, 9, 1, 600 * MS, 1],
    gone: [], stream: [{ t: 0, state: "connected", meaning: "It works.", code: null }, { t: 1100 * MS, state: "waiting", meaning: "It broke.", code: "unavailable" }], gaps: [],
  };
  let now = 0;
  const bins = new Bins({ ask: async () => /** @type {any} */ (cut), changed() {}, setTimer: () => 0, clock: () => (now += 1000) });
  bins.meet("s1");
  let shown;
  for (let i = 0; i < 3; i += 1) {
    shown = bins.show([[0, 1500 * MS]], WIDTH / S / 3, ["web"]);
    for (let n = 0; n < 4; n += 1) await Promise.resolve();
  }
  const play = new Play();
  play.pod(1500, "web");
  play.hint(1600, "web");
  const kept = stored(play, [row("web")], { truncated: true, now: state({ t: 3000 * MS, stream: { ...state().engine.stream, since_t: 1500 * MS } }) });
  const older = { bins, width: shown.width, n: shown.n, spans: [[0, 1500 * MS]], unknown: shown.unknown, now: 3000 * MS };
  golden("older", named(draw(kept, 0, 3000, { older: /** @type {any} */ (older) })));
});

test("each mark's own strokes", () => {
  const lines = [];
  for (const [name, shape] of Object.entries(SHAPES)) shape(recorder(`${name}: `, lines), 0, 0, 10, PALETTE);
  golden("shapes", lines);
});

test("the same is drawn twice the same", () => assert.deepEqual(named(draw(store(), 0, 3000)), named(draw(store(), 0, 3000))));

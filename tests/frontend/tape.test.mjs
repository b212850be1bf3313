import assert from "node:assert/strict";
import { test } from "node:test";
import { Axis } from "../../static/js/axis.js";
import { condition } from "../../static/js/condition.js";
import { filmPageQuery, readFilmPlace, sourceQuery, writeFilmLink } from "../../static/js/film-link.js";
import { columnsOf, dragged, gripAt } from "../../static/js/overview.js";
import { Player } from "../../static/js/player.js";
import { endWords, loopWith } from "../../static/js/replay-bar.js";
import { fileName, makingWords, stretchFields } from "../../static/js/replay-export.js";
import { waitWords } from "../../static/js/replay-land.js";
import { parseMoment, readPlace } from "../../static/js/run-link.js";
import { Store } from "../../static/js/store.js";
import { MOST_PIECES, Tape } from "../../static/js/tape.js";
import { Beside, Together, commonIdle } from "../../static/js/together.js";
import { S } from "./kit.mjs";

const ENGINE = { t: 0, running: null, stream: { state: "off", since_t: 0, meaning: "", attempt: 0, code: null }, queue: { length: 0 } };
const PER = 10;

/** A recording of so many records, one each 100 ms, in pieces of ten. @param {number} count @param {object} [more] @param {number} [each] s */
function film(count, more = {}, each = 0.1) {
  /** @type {any[]} */
  const records = Array.from({ length: count }, (_, i) => ({
    kind: i % 7 === 3 ? "relist_finished" : "note", seq: i + 1, t: Math.round(i * each * S), wall: Math.round(i * each * S), uid: i % 5 === 0 ? "a" : "b", scope: "global", relist: i,
  }));
  const state = (/** @type {number} */ queued) => ({ session: "digest", wall: 1000 * S, last_seq: 0, faults: [], runtime: null, oldest_call: null, engine: { ...ENGINE, queue: { length: queued } } });
  /** @type {[number, number][]} */
  const pieces = [];
  for (let first = 1; first <= count; first += PER) pieces.push([first, records[first - 1].t]);
  const told = /** @type {any} */ ({
    name: "a.mcap", digest: "d", title: "A", node: 0, origin: 1000 * S, records: count, end_t: records[count - 1].t, whole: true, read: 1, warnings: [],
    state: state(0), pieces, idle: [], incidents: [], incidents_total: 0, overview: { width: S, records: [], early: [], late: [], trouble: [] }, ...more,
  });
  /** @type {number[]} */
  const asked = [];
  let slow = false;
  /** @type {(() => void)[]} */
  const held = [];
  const server = {
    told: async () => told,
    piece: async (/** @type {number} */ number) => {
      asked.push(number);
      if (slow) await new Promise((resolve) => { held.push(() => resolve(null)); });
      const first = number * PER + 1;
      return /** @type {any} */ ({
        number, first, state: state(first - 1), records: records.slice(first - 1, first - 1 + PER),
        // The queue is as long as there were records.
        changes: records.slice(first - 1, first - 1 + PER).map((rec) => [rec.seq, { queue: { length: rec.seq } }]),
        pods: [{ uid: "a", name: "a", namespace: "n", seen_t: 0, gone_t: null, last_t: 0, running: 1, containers: [], ips: [], error: "", syncing: false }],
      });
    },
    find: async (/** @type {string} */ what, /** @type {number} */ seq, /** @type {boolean} */ back, /** @type {string} */ uid) => {
      const wanted = (/** @type {any} */ rec) => (what === "pod" ? rec.uid === uid : rec.kind === "relist_finished");
      const found = back ? records.findLast((rec) => rec.seq < seq && wanted(rec)) : records.find((rec) => rec.seq > seq && wanted(rec));
      return found?.seq ?? null;
    },
    found: async (/** @type {string} */ what, /** @type {number} */ seq, /** @type {boolean} */ back, /** @type {string} */ uid) => {
      const found = await server.find(what, seq, back, uid);
      return { seq: found, t: records[(found ?? 0) - 1]?.t ?? null };
    },
  };
  return { records, told, server, asked, held, hold: (/** @type {boolean} */ on) => { slow = on; } };
}

/** @param {ReturnType<typeof film>} made @param {object} [options] @param {number} [span] */
async function loaded(made, options = {}, span = S) {
  let now = 0;
  const store = new Store(1e6);
  const tape = new Tape(made.server, made.told, () => span);
  const player = new Player({ load: async () => tape, mono: () => now, ...options });
  player.attach({ take: (message) => store.apply(message) });
  await player.load();
  return { player, store, tape, pass: (/** @type {number} */ ms) => { now += ms; player.frame(); } };
}

/** What was asked for is here. */
const arrive = () => new Promise((resolve) => { setTimeout(resolve); });

test("a moment takes only the pieces around it", async () => {
  const made = film(500);
  const { player, store } = await loaded(made, { t: 30 * S });
  assert.equal(player.seq, 301);
  assert.ok(made.asked.length <= 3, String(made.asked));
  assert.equal(store.records.at(-1)?.seq, 301);
  assert.ok(store.truncated);
  assert.equal(store.state?.engine.queue.length, 301);
  assert.equal(store.state?.wall, 1030 * S);
});

test("wherever the cursor goes, the page knows what had happened, and nothing more", async () => {
  const made = film(400);
  const { player, store } = await loaded(made);
  for (const t of [35, 2, 39, 3.05, 0, 20, 20.1, 19.9, 39.9]) {
    player.seek(t * S);
    await arrive();
    const happened = made.records.filter((rec) => rec.t <= t * S).length;
    assert.equal(player.seq, happened, String(t));
    assert.equal(store.lastSeq, happened);
    const seqs = store.records.map((rec) => rec.seq);
    assert.equal(seqs.at(-1), happened);
    // Without a hole from the first that is known.
    assert.deepEqual(seqs, Array.from({ length: seqs.length }, (_, i) => seqs[0] + i));
    assert.equal(store.state?.engine.queue.length, happened);
    assert.deepEqual(store.gaps, []);
  }
});

test("a page that goes on to somewhere else begins anew there, wherever pieces begin", async () => {
  const made = film(900);
  for (const span of [0.3, 1, 1.25, 1.7, 3.1]) {
    const { player, store } = await loaded(made, {}, span * S);
    for (const t of [4.05, 20, 31.9, 44.4, 60.95, 89.9, 12.3, 13.1, 50]) {
      player.seek(t * S);
      await arrive();
      const seqs = store.records.map((rec) => rec.seq);
      assert.deepEqual(seqs, Array.from({ length: seqs.length }, (_, i) => seqs[0] + i));
      assert.equal(seqs.at(-1), player.seq);
      assert.ok(store.records[0].t <= (t - span) * S && seqs.length <= 10 * span + 3 * PER, `${span} ${t}: ${seqs.length}`);
      assert.equal(store.truncated, seqs[0] > 1);
      assert.ok(store.lanes.get("a")?.name);
    }
  }
});

test("steps go over the edges of pieces, both ways", async () => {
  const made = film(60);
  const { player, store } = await loaded(made);
  player.seekTo(0);
  for (let seq = 1; seq <= 60; seq += 1) {
    player.step(1);
    await arrive();
    assert.deepEqual([player.seq, player.t], [seq, made.records[seq - 1].t]);
  }
  for (let seq = 59; seq >= 1; seq -= 1) {
    player.step(-1);
    await arrive();
    assert.equal(player.seq, seq);
    assert.equal(store.records.at(-1)?.seq, seq);
  }
});

test("steps in quick succession add up while pieces are on their way", async () => {
  const made = film(100);
  const { player } = await loaded(made);
  player.seekTo(50);
  await arrive();
  made.hold(true);
  player.seekTo(80);
  for (let i = 0; i < 5; i += 1) player.step(1);
  made.held.forEach((go) => go());
  await arrive();
  assert.equal(player.seq, 85);
});

test("the last wish counts, however pieces come", async () => {
  const made = film(400);
  const { player } = await loaded(made);
  made.hold(true);
  player.seek(30 * S);
  player.seek(10 * S);
  made.hold(false);
  player.seek(20 * S);
  await arrive();
  made.held.forEach((go) => go());
  await arrive();
  assert.equal(player.t, 20 * S);
});

test("relists and events of a pod are found beyond what is here", async () => {
  const made = film(300);
  const { player } = await loaded(made);
  player.seekTo(1);
  await arrive();
  assert.equal(await player.stepRelist(1), true);
  await arrive();
  assert.equal(player.seq, 4);
  player.toEnd();
  await arrive();
  assert.equal(await player.stepRelist(1), false);
  assert.equal(await player.stepPod("a", -1), true);
  await arrive();
  assert.equal(player.seq, 296);
});

test("what is kept does not grow with the recording", async () => {
  const made = film(20 * MOST_PIECES * PER);
  const { player, tape } = await loaded(made, {}, 5 * S);
  for (let t = 0; t < made.told.end_t; t += 13 * S) {
    player.seek(t);
    await arrive();
    assert.ok(tape.here.size <= MOST_PIECES);
  }
});

test("playing fetches what comes next before it comes", async () => {
  const made = film(300);
  const { player, pass } = await loaded(made);
  player.play({ rate: 5 });
  for (let i = 0; i < 40; i += 1) {
    pass(100);
    await arrive();
    assert.equal(player.wanted, null, String(i));
  }
  assert.ok(player.t > 15 * S);
});

test("time waits for a piece that does not come, and a refusal is told", async () => {
  const made = film(300);
  const { player, pass } = await loaded(made);
  made.hold(true);
  player.play({ rate: 100 });
  pass(250);
  const { t } = player;
  for (let i = 0; i < 20; i += 1) pass(100);
  assert.equal(player.t, t);
  made.held.forEach((go) => go());
  made.hold(false);
  await arrive();
  assert.ok(player.t > t);
  const refusing = film(300);
  const second = await loaded(refusing);
  refusing.server.piece = async () => { throw new Error("Gone. Load the page again."); };
  second.player.seek(29 * S);
  await arrive();
  assert.equal(second.player.trouble, "Gone. Load the page again.");
  // What is looked for and cannot be had is told as well, and nothing else is.
  second.player.seek(0);
  await arrive();
  assert.equal(second.player.trouble, "");
  refusing.server.find = async () => { throw new Error("It does not answer."); };
  assert.equal(await second.player.stepPod("nobody", 1), true);
  assert.equal(second.player.trouble, "It does not answer.");
});

test("a loop is played again and again", async () => {
  const { player, pass } = await loaded(film(300));
  player.loop = [2 * S, 3 * S];
  player.seek(2.9 * S);
  await arrive();
  player.play();
  pass(90);
  assert.ok(player.t > 2.95 * S);
  pass(90);
  await arrive();
  assert.equal(player.t, 3 * S);
  pass(90);
  await arrive();
  assert.equal(player.t, 2 * S);
  assert.ok(player.playing);
});

test("idle stretches are played over, and said so", async () => {
  const made = film(300, { idle: [[5 * S, 25 * S]] });
  const { player, pass } = await loaded(made);
  /** @type {number[][]} */
  const over = [];
  player.onSkip.push((from, to) => over.push([Math.round(from / S), Math.round(to / S)]));
  player.seek(6.95 * S);
  await arrive();
  player.play();
  pass(100);
  await arrive();
  assert.deepEqual(over, [[7, 23]]);
  assert.equal(player.t, 23 * S);
});

test("in a time that nobody recorded nothing is said of the node", async () => {
  const made = film(300, { idle: [[5 * S, 25 * S, true]] });
  const { player, store } = await loaded(made);
  player.seek(15 * S);
  await arrive();
  assert.deepEqual(store.state?.unrecorded, { from: 5 * S, to: 25 * S });
  assert.deepEqual(store.gaps.map((gap) => [gap.from, gap.to]), [[5 * S, 15 * S]]);
  const how = condition(/** @type {any} */ ({ state: store.state, now: player.t, link: "open", silence: 0, online: true, farewell: "" }));
  assert.equal(how.word, "Not recorded.");
  player.seek(16 * S);
  await arrive();
  assert.deepEqual(store.gaps.map((gap) => [gap.from, gap.to]), [[5 * S, 16 * S]]);
  player.seek(26 * S);
  await arrive();
  assert.deepEqual([store.state?.unrecorded, store.gaps], [null, []]);
});

test("the table of pieces grows while the recording is read", async () => {
  const made = film(100);
  const all = made.told.pieces;
  made.told.pieces = all.slice(0, 3);
  const tape = new Tape(made.server, made.told);
  assert.equal(tape.table.length, 3);
  tape.update({ ...made.told, pieces: all.slice(3) }, 3);
  assert.deepEqual(tape.table, all);
  // Asked twice: nothing is there twice.
  tape.update({ ...made.told, pieces: all.slice(3) }, 3);
  assert.deepEqual(tape.table, all);
});

test("nothing but an idle stretch is shortened, and every place is a time", () => {
  const axis = new Axis([[10 * S, 1000 * S], [1010 * S, 1012 * S], [1020 * S, 90_000 * S]], 90_010 * S);
  assert.equal(axis.breaks.length, 2);
  assert.equal(axis.place(10 * S), 10 * S);
  assert.equal(axis.place(1000 * S), 14 * S);
  for (const t of [0, 3, 10, 500, 1000, 1005, 1011, 1015, 50_000, 90_000, 90_005, 90_010]) {
    assert.ok(Math.abs(axis.time(axis.place(t * S)) - t * S) < 1000, String(t));
  }
  let last = -1;
  for (let t = 0; t <= 90_010; t += 7) {
    const place = axis.place(t * S);
    assert.ok(place > last);
    last = place;
  }
  const plain = new Axis([], 0);
  assert.deepEqual([plain.place(5), plain.time(5), plain.length], [0, 0, 0]);
});

test("a link of a recording says all of it and is read again", () => {
  const place = { t: 65.25 * S, seq: 12, selected: 9, loop: /** @type {[number, number]} */ ([60 * S, 70 * S]), rate: 5, digest: "0123456789abcdef", of: 1, nodes: /** @type {"all"} */ ("all") };
  const link = writeFilmLink("file=a+b.mcap&node=1", place, "filter=cart&select=4");
  assert.equal(link, "file=a+b.mcap&node=1&digest=0123456789abcdef&t=65.25s&at=12&sel=9&of=1&loop=60s..70s&rate=5&nodes=all&filter=cart");
  assert.deepEqual(readFilmPlace(link), place);
  assert.equal(sourceQuery(link), "file=a+b.mcap&node=1");
  // What is selected on another node is not the page's own business.
  assert.equal(filmPageQuery(link), "?filter=cart");
  assert.equal(filmPageQuery(link.replace("&of=1", "")), "?filter=cart&select=9");
});

test("a link that says what cannot be says nothing", () => {
  const none = { t: null, seq: null, selected: null, loop: null, rate: 1, digest: "", of: null, nodes: "" };
  for (const query of ["", "t=x&at=-1&sel=1.5&loop=5s&rate=1e9&digest=zz", "loop=9s..2s&rate=nan", "t=99999999h", "loop=..&rate=0&of=200&nodes=some"]) {
    assert.deepEqual(readFilmPlace(query), none, query);
  }
});

test("times in links are ns or words", () => {
  assert.equal(readPlace("t=65s").t, 65 * S);
  assert.equal(readPlace("t=1m05.5s").t, 65.5 * S);
  assert.equal(readPlace("t=1:05").t, 65 * S);
  assert.equal(readPlace("t=65").t, 65);
  assert.equal(readPlace("t=9h").t, null);
  assert.equal(readPlace("t=soon").t, null);
});

test("a moment is a time, so much on or back, or a time of day", () => {
  const wall = Date.UTC(2026, 10, 29, 14, 30, 0) * 1e6;
  const here = { t: 100 * S, wall, utc: true };
  for (const [text, seconds] of /** @type {[string, number][]} */ ([
    ["65s", 65], ["1:05", 65], ["+1m05s", 165], ["-10s", 90], ["−10s", 90], ["-500s", 0], ["14:30:10", 110], ["14:29:59.5", 99.5],
    ["2026-11-29 14:31:00", 160], ["2026-11-29T14:31:00Z", 160], ["14:30:05 UTC", 105], ["2026-11-28 14:30:00", 0],
  ])) assert.equal(parseMoment(text, here), seconds * S, text);
  for (const text of ["", "+", "soon", "25:00:00", "14:61:00", "2026-11-29"]) assert.equal(parseMoment(text, here), null, text);
});

test("a loop has a beginning before its end", () => {
  assert.deepEqual(loopWith(null, "from", 5, 100), [5, 100]);
  assert.deepEqual(loopWith([5, 100], "to", 9, 100), [5, 9]);
  assert.deepEqual(loopWith([5, 9], "from", 20, 100), [20, 100]);
  assert.deepEqual(loopWith([20, 100], "to", 10, 100), [0, 10]);
  assert.equal(loopWith(null, "from", 100, 100), null);
  assert.equal(loopWith(null, "to", 0, 100), null);
});

test("the overview's columns have everything once", () => {
  const overview = { width: 10, records: [5, 0, 7, 1], early: [1, 0, 2, 0], late: [0, 0, 1, 1], trouble: [0, 1, 2, 0] };
  for (const columns of [1, 2, 4, 8, 13]) {
    const found = columnsOf(overview, (t) => (t / 40) * columns, columns);
    const sum = (/** @type {Float64Array} */ values) => Math.round(values.reduce((all, one) => all + one, 0) * 1e6) / 1e6;
    assert.deepEqual([sum(found.records), sum(found.early), sum(found.late)], [13, 3, 2]);
    assert.equal(found.trouble.reduce((all, one) => all | one, 0), 3);
  }
  // Nothing is known of a node before its first record, and after its last.
  const later = { width: 10, records: [0, 0, 5], early: [0, 0, 0], late: [0, 0, 0], trouble: [0, 0, 0] };
  assert.deepEqual([...columnsOf(later, (t) => t / 10, 5).known], [0, 0, 1, 0, 0]);
  // What has not been read through is known by its records only.
  const half = { width: 10, records: [5, 5, 5], early: [0, 0, 0], late: [0, 0, 0], trouble: [0, 0, 0], read: 1 };
  const { known, looked } = columnsOf(half, (t) => t / 10, 4);
  assert.deepEqual([[...known], [...looked]], [[1, 1, 1, 0], [1, 0, 0, 0]]);
});

test("a press is none, a drag is a loop, and its ends can be taken", () => {
  const time = (/** @type {number} */ x) => x * S;
  assert.equal(dragged(50, 53, time), null);
  assert.deepEqual(dragged(50, 80, time), [50 * S, 80 * S]);
  assert.deepEqual(dragged(80, 50, time), [50 * S, 80 * S]);
  assert.deepEqual(dragged(0, 900, () => 7), [7, 7 + 10e6]);
  assert.deepEqual([gripAt(null, 5), gripAt([10, 90], 12), gripAt([10, 90], 84), gripAt([10, 90], 50), gripAt([10, 11], 11)], [null, 0, 1, null, 1]);
});

test("what is waited for is said with how far it has been read", () => {
  assert.equal(waitWords(Infinity, 60 * S).replaceAll("\u00a0", " "), "Going to the end, which has not been read yet: 1 min 0.000 s have.");
});

test("the end says whether it is one", () => {
  assert.match(endWords({ whole: true, warnings: [] }, "14:00:00"), /^The recording ends here, at 14:00:00; what came after is not known\. Space plays it again/);
  assert.match(endWords({ whole: true, warnings: ["x"] }, "14:00:00"), /1\u00a0thing about it is to be known/);
  assert.match(endWords({ whole: false, warnings: [] }, ""), /as far as the recording has been read/);
});

test("when an index proves untrue, nothing told by it is kept", async () => {
  const made = film(100);
  const { tape } = await loaded(made);
  await tape.load(5 * S, null);
  assert.ok(tape.here.size > 0);
  const pieces = made.told.pieces.slice(0, 4);
  tape.update({ ...made.told, layout: 2, pieces, records: 40 }, tape.table.length);
  assert.deepEqual(tape.table, pieces);
  assert.equal(tape.here.size, 0);
});

test("nothing happens where nothing happens on any node", () => {
  assert.deepEqual(commonIdle([]), []);
  assert.deepEqual(commonIdle([[[0, 10], [20, 40, true]], [[5, 25, true], [30, 50, true]]]), [[5, 10, false], [20, 25, true], [30, 40, true]]);
  assert.deepEqual(commonIdle([[[0, 10]], []]), []);
});

test("several nodes have one clock, and each its own records", async () => {
  const one = film(100);
  const other = film(600, { idle: [[20 * S, 50 * S]] });
  const tapes = [new Tape(one.server, one.told, () => S), new Tape(other.server, other.told, () => S)];
  const together = new Together(tapes);
  assert.equal(together.duration, other.told.end_t);
  // The first node was recorded for ten seconds, so what is idle on the other is idle.
  assert.deepEqual(together.idle, [[20 * S, 50 * S, false]]);
  assert.equal(together.skip(30 * S), 48 * S);
  const store = new Store(1e6);
  const player = new Player({ load: async () => together });
  player.attach({ take: (message) => store.apply(message) });
  await player.load();
  player.seek(15 * S);
  await arrive();
  assert.deepEqual([player.t, player.seq, store.lastSeq], [15 * S, 100 + 151, 100]);
  assert.deepEqual(store.state?.unrecorded, { from: one.told.end_t, to: other.told.end_t, edge: "after" });
  // The cursor has moved once the other had what it shows, too.
  const beside = new Beside(tapes[1], () => together.duration);
  assert.equal(beside.load(15 * S, null), null);
  assert.equal(beside.settle(15 * S, null), 151);
  player.seek(5 * S);
  await arrive();
  assert.deepEqual([player.seq, store.state?.unrecorded ?? null, store.gaps], [51 + 51, null, []]);
  player.again();
  await arrive();
  assert.deepEqual([player.seq, store.records.at(-1)?.seq], [51 + 51, 51]);
});

/** Some nodes' recordings, shown in this order. @param {ReturnType<typeof film>[]} made @param {object} [options] */
async function allOf(made, options = {}) {
  const tapes = made.map((one) => new Tape(one.server, one.told, () => S));
  const together = new Together(tapes);
  const store = new Store(1e6);
  const player = new Player({ load: async () => together, ...options });
  player.attach({ take: (message) => store.apply(message) });
  await player.load();
  return { tapes, together, store, player };
}

/** Of these nodes, in which order their records are stepped through. @param {ReturnType<typeof film>[]} made */
const inOrder = (...made) => made.flatMap(({ records, told }) => records.map((rec) => ({ t: rec.t, node: told.node, rec })))
  .sort((a, b) => a.t - b.t || a.node - b.node || a.rec.seq - b.rec.seq);

test("one steps through the records of all nodes, those of one time in the order of the nodes", async () => {
  // Half of the second one's records have times of the first one's. It is shown first all the same.
  const one = film(25, { node: 0 });
  const other = film(25, { node: 1 }, 0.05);
  const order = inOrder(one, other);
  const { player, together, store } = await allOf([other, one]);
  player.seekTo(0);
  for (const [i, { t, node, rec }] of order.entries()) {
    player.step(1);
    await arrive();
    assert.deepEqual([player.seq, player.t, together.newest()?.tape.told.node, together.newest()?.seq, player.newest], [i + 1, t, node, rec.seq, rec]);
    // The page knows its own node's, and the other one's pane is told how many of its have happened.
    assert.equal(store.lastSeq, order.slice(0, i + 1).filter((each) => each.node === 1).length);
    const happened = order.slice(0, i + 1).filter((each) => each.node === 0).length;
    assert.equal(together.midwayOf(together.tapes[1]) ?? together.tapes[1].settle(t, null), happened);
  }
  player.step(1);
  await arrive();
  assert.equal(player.seq, order.length);
  for (let i = order.length - 1; i >= 1; i -= 1) {
    player.step(-1);
    await arrive();
    assert.deepEqual([player.seq, player.newest], [i, order[i - 1].rec]);
  }
  // A link says how many have happened.
  const both = order.findIndex(({ t, node }) => node === 0 && t === 0.5 * S) + 1;
  player.seekTo(both);
  await arrive();
  const linked = await allOf([other, one], { t: player.t, seq: player.midway });
  assert.deepEqual([linked.player.t, linked.player.seq, linked.store.lastSeq], [0.5 * S, both, store.lastSeq]);
  assert.equal(linked.together.newest()?.tape.told.node, 0);
});

test("the next relist is that of whichever node, and so is the one before", async () => {
  const made = [film(60, { node: 0 }), film(60, { node: 1 }, 0.05), film(20, { node: 2 })];
  const order = inOrder(...made);
  const { player, together } = await allOf(made);
  player.seek(1.02 * S);
  await arrive();
  const found = order.flatMap(({ t, node, rec }, i) => (rec.kind === "relist_finished" && t > 1.02 * S ? [[i + 1, node]] : []));
  for (const [n, node] of found) {
    assert.equal(await player.stepRelist(1), true);
    await arrive();
    assert.deepEqual([player.seq, together.newest()?.tape.told.node], [n, node]);
  }
  assert.equal(await player.stepRelist(1), false);
  for (const [n] of found.slice(0, -1).reverse()) {
    assert.equal(await player.stepRelist(-1), true);
    await arrive();
    assert.equal(player.seq, n);
  }
  // Of a pod only its own node's count.
  const before = player.t;
  const n = await together.findPod(together.tapes[1], "a", 1);
  player.seekTo(n ?? 0);
  await arrive();
  assert.deepEqual([together.newest()?.tape.told.node, player.newest?.uid, player.t > before], [1, "a", true]);
});

test("what is read later of another node is counted where the cursor is", async () => {
  const made = [film(60, { node: 0 }), film(60, { node: 1 }, 0.05)];
  const whole = made[1].told;
  made[1].told = { ...whole, whole: false, pieces: whole.pieces.slice(0, 1), records: 10, end_t: made[1].records[9].t };
  const { player, together, store } = await allOf(made);
  player.seek(2 * S);
  await arrive();
  assert.equal(player.seq, 21 + 10);
  together.tapes[1].update({ ...whole, pieces: whole.pieces.slice(1) }, 1);
  together.update();
  await together.recount(player);
  assert.deepEqual([player.seq, player.t], [21 + 41, 2 * S]);
  player.step(1);
  await arrive();
  assert.deepEqual([player.newest?.t, together.newest()?.seq, store.lastSeq], [2_050_000_000, 42, 21]);
  // A link counts all of them, be they read or not.
  const linked = await allOf(made, { t: 2 * S, seq: 61 });
  assert.equal(linked.player.seq, 31);
  linked.together.tapes[1].update({ ...whole, pieces: whole.pieces.slice(1) }, 1);
  await linked.together.recount(linked.player);
  await arrive();
  assert.deepEqual([linked.player.seq, linked.player.midway, linked.together.midwayOf(linked.together.tapes[1])], [61, 61, 40]);
});

test("an export says which stretch, how far it is, and what its file is called", () => {
  assert.deepEqual(stretchFields(null, 90 * S), { from: "", to: "" });
  assert.deepEqual(stretchFields([-5 * S, 95 * S], 90 * S), { from: "", to: "" });
  assert.deepEqual(stretchFields([1.5 * S, 20.25 * S], 90 * S), { from: "1.5s", to: "20.25s" });
  assert.equal(fileName('attachment; filename="plegscope-a.pftrace"'), "plegscope-a.pftrace");
  assert.equal(fileName(null), "plegscope-export");
  assert.equal(makingWords([{ name: "a", records: 1200, bytes: 0 }, { name: "b", records: 1, bytes: 3 * 1024 * 1024 }]), "1,200\u00a0records read; 1\u00a0record read, 3.0\u00a0MiB written");
  assert.match(waitWords(90 * S, 30 * S), /^Going to 1\u00a0min.* which has not been read yet: 30\.000\u00a0s have\.$/);
});

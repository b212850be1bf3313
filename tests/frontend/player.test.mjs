import assert from "node:assert/strict";
import { test } from "node:test";
import { stateWord, progressWords, faultWords } from "../../static/js/player-bar.js";
import { branchesAfter } from "../../static/js/run-press.js";
import { FASTEST, Player, SLOWEST, upTo } from "../../static/js/player.js";
import { Store } from "../../static/js/store.js";
import { Play, MS, S } from "./kit.mjs";

/** A small run: relists at whole seconds, and one pod that dies at 2.3 s. */
function run() {
  const play = new Play();
  play.rec("watching", 0, { profile: "kep", period_ns: S, threshold_ns: 180 * S, queue_capacity: 200 });
  play.pod(0, "a", "cart");
  for (const second of [1000, 2000, 3000]) {
    play.begin(second);
    play.end(second + 5, second);
  }
  const { records } = play;
  // At one and the same time: three records about the pod.
  for (const kind of ["stream_event", "request", "note"]) {
    records.push({ kind, seq: 0, t: 2300 * MS, wall: 2300 * MS, uid: "a", type: "stopped", event: 1, request: 1, outcome: "queued", depth: 1 });
  }
  records.sort((one, other) => one.t - other.t);
  records.forEach((rec, i) => { rec.seq = i + 1; });
  return records;
}

const ENGINE = { t: 0, running: null, stream: { state: "off", since_t: 0, meaning: "", attempt: 0, code: null }, queue: { length: 0 } };

function told(records = run()) {
  return /** @type {any} */ ({
    run: { query: "scenario=x", scenario: "x", title: "X", shows: "", seed: 7, profile: "kep", runtime: "", duration_ns: 4 * S, presses: [] },
    state: { session: "run-1", wall: 0, last_seq: 0, faults: [], runtime: null, engine: ENGINE }, changes: [], records,
  });
}

/** A player with a store, as the page has it. @param {object} [options] */
async function loaded(options = {}) {
  let now = 0;
  const store = new Store(1e6);
  /** @type {any[]} */
  const messages = [];
  const player = new Player({ load: async () => told(), mono: () => now, ...options });
  player.attach({ take: (message) => { messages.push(message); store.apply(message); } });
  await player.load();
  return { player, store, messages, pass: (/** @type {number} */ ms) => { now += ms; player.frame(); } };
}

test("what lies ahead is not told to the page", async () => {
  const { player, store } = await loaded({ t: 2.1 * S });
  assert.equal(player.seq, upTo(player.records, 2.1 * S));
  assert.equal(store.records.length, player.seq);
  assert.ok(store.records.every((rec) => rec.t <= 2.1 * S));
  player.seek(1.5 * S);
  assert.ok(store.records.every((rec) => rec.t <= 1.5 * S));
  assert.equal(store.state?.last_seq, player.seq);
});

test("the clock stands at the cursor", async () => {
  const { player } = await loaded();
  player.seek(1.5 * S);
  assert.equal(player.clock.now(), 1.5 * S);
  assert.equal(player.clock.silence(), 0);
  player.seek(99 * S);
  assert.equal(player.clock.now(), 4 * S);
  player.seek(-5);
  assert.equal(player.clock.now(), 0);
});

test("a step goes over one record, also where several have the same time", async () => {
  const { player, store } = await loaded();
  player.seek(2.2 * S);
  const before = player.seq;
  player.step(1);
  assert.deepEqual([player.seq, player.t, player.midway, player.state], [before + 1, 2.3 * S, before + 1, "stepping"]);
  player.step(1);
  player.step(1);
  assert.deepEqual([player.seq, player.t, player.midway], [before + 3, 2.3 * S, null]);
  player.step(-1);
  assert.equal(store.records.length, before + 2);
  assert.equal(store.records[store.records.length - 1].seq, before + 2);
});

test("back by any number of steps is what one would have seen going forward", async () => {
  const { player, store } = await loaded();
  const look = () => JSON.stringify([store.records, [...store.lanes], store.finds, store.stretches, store.depths, store.state, [...store.relists]]);
  const seen = [];
  for (let seq = 0; seq <= player.records.length; seq += 1) {
    player.seekTo(seq);
    seen.push(look());
  }
  for (let seq = player.records.length; seq >= 0; seq -= 1) {
    player.seekTo(seq);
    assert.equal(look(), seen[seq], `record ${seq}`);
  }
});

test("steps end at both ends of the run", async () => {
  const { player } = await loaded();
  // Two records are there from the beginning.
  assert.equal(player.seq, 2);
  for (let i = 0; i < 3; i += 1) player.step(-1);
  assert.deepEqual([player.seq, player.t], [0, 0]);
  player.toEnd();
  const last = player.records.length;
  assert.equal(player.seq, last);
  player.step(1);
  assert.equal(player.seq, last);
});

test("by relist, and by the events of one pod", async () => {
  const { player } = await loaded();
  assert.ok(player.stepRelist(1));
  assert.equal(player.newest?.kind, "relist_finished");
  assert.equal(player.t, 1005 * MS);
  assert.ok(player.stepRelist(1));
  assert.equal(player.t, 2005 * MS);
  assert.ok(player.stepRelist(-1));
  assert.equal(player.t, 1005 * MS);
  assert.equal(player.stepRelist(-1), false);
  assert.equal(player.t, 1005 * MS);
  assert.ok(player.stepPod("a", 1));
  assert.deepEqual([player.newest?.kind, player.t], ["stream_event", 2.3 * S]);
  assert.ok(player.stepPod("a", -1));
  assert.equal(player.newest?.kind, "pod_seen");
  assert.equal(player.stepPod("nobody", 1), false);
});

test("playing goes at its rate, tells what happens as batches, and stops at the end", async () => {
  const { player, store, messages, pass } = await loaded();
  player.play({ rate: 10 });
  messages.length = 0;
  pass(110);
  assert.equal(player.state, "playing");
  assert.equal(Math.round(player.t / MS), 1100);
  assert.ok(messages.every((message) => message.type !== "snapshot"));
  assert.equal(store.lastSeq, player.seq);
  for (let i = 0; i < 5; i += 1) pass(100);
  assert.deepEqual([player.t, player.state, player.seq], [4 * S, "following", player.records.length]);
  player.toggle();
  assert.deepEqual([player.t, player.state], [0, "playing"]);
});

test("a loop is played from its beginning, wherever the cursor is outside of it", async () => {
  const { player, pass } = await loaded();
  player.loop = [S, 2 * S];
  for (const t of [0.2 * S, 2 * S, 3 * S, 4 * S]) {
    player.seek(t);
    player.play();
    assert.equal(player.t, S, `from ${t / S} s`);
  }
  player.seek(1.5 * S);
  player.play({ rate: 1 });
  assert.equal(player.t, 1.5 * S);
  // Its end is put where the cursor is, while it plays.
  player.loop = [S, 1.5 * S];
  pass(100);
  assert.deepEqual([player.t, player.playing], [S, true]);
  // A frame as long as all of it still shows where it leads.
  player.setRate(10);
  const shown = [1, 2, 3, 4].map(() => { pass(100); return player.t / S; });
  assert.deepEqual(shown, [1.5, 1, 1.5, 1]);
});

test("at the end of what has been read so far playing waits for more", async () => {
  let growing = true;
  const { player, pass } = await loaded({ growing: () => growing });
  player.toEnd();
  player.play();
  pass(100);
  assert.deepEqual([player.t, player.playing], [4 * S, true]);
  growing = false;
  pass(100);
  assert.deepEqual([player.t, player.playing], [4 * S, false]);
  player.play();
  assert.equal(player.t, 0);
});

test("a move before anything is here says where the cursor begins", async () => {
  const player = new Player({ load: async () => told(), t: S });
  const loading = player.load();
  player.seek(Infinity);
  await loading;
  assert.deepEqual([player.t, player.state, player.begin.asked], [4 * S, "following", true]);
});

test("a page that was in the background plays nothing meanwhile", async () => {
  const { player, pass } = await loaded();
  player.play({ rate: 1 });
  pass(60_000);
  assert.ok(player.t <= 250 * MS);
});

test("playing can be told where to stop", async () => {
  const { player, pass } = await loaded();
  player.play({ rate: 10, until: 1.2 * S });
  for (let i = 0; i < 9; i += 1) pass(100);
  assert.deepEqual([player.t, player.state], [1.2 * S, "paused"]);
});

test("rates have limits and steps", async () => {
  const { player } = await loaded();
  player.setRate(1e9);
  assert.equal(player.rate, FASTEST);
  player.shift(1);
  assert.equal(player.rate, FASTEST);
  player.setRate(0);
  assert.equal(player.rate, SLOWEST);
  player.shift(1);
  assert.equal(player.rate, 0.25);
  player.shift(-1);
  assert.equal(player.rate, SLOWEST);
});

test("moving the cursor pauses, and whoever watches it is told", async () => {
  const { player, pass } = await loaded();
  /** @type {number[][]} */
  const moves = [];
  player.onCursor.push((t, seq) => moves.push([t, seq]));
  player.play();
  pass(100);
  player.seek(2 * S);
  assert.equal(player.playing, false);
  assert.deepEqual(moves[moves.length - 1], [2 * S, player.seq]);
});

test("a run opens where its link says, in the middle of a moment too", async () => {
  const whole = await loaded();
  whole.player.seek(2.2 * S);
  const inside = whole.player.seq + 2;
  const { player } = await loaded({ t: 2.3 * S, seq: inside });
  assert.deepEqual([player.seq, player.t, player.midway], [inside, 2.3 * S, inside]);
  const odd = await loaded({ t: 2.3 * S, seq: 1 });
  assert.ok(odd.player.seq >= whole.player.seq, "records before the time have happened");
});

test("a run that cannot be had says why, and is asked for again", async () => {
  let answers = false;
  const player = new Player({ load: async () => { if (!answers) throw new Error("There is no such scenario."); return told(); } });
  let calls = 0;
  player.onLoad.push(() => { calls += 1; });
  await player.load();
  assert.deepEqual([player.trouble, player.link, stateWord(player)], ["There is no such scenario.", "waiting", "Not played"]);
  player.play();
  assert.equal(player.playing, false);
  answers = true;
  await player.load();
  assert.deepEqual([player.trouble, player.link, calls], ["", "open", 2]);
});

test("states in words", async () => {
  const { player } = await loaded();
  assert.equal(stateWord(new Player({ load: async () => told() })), "Loading");
  player.seek(1.5 * S);
  assert.equal(stateWord(player), "Paused");
  player.step(1);
  assert.equal(stateWord(player), "Stepping");
  player.play({ rate: 10 });
  assert.equal(stateWord(player), "Playing 10×");
  player.toEnd();
  assert.equal(stateWord(player), "At the end");
});

test("how far a run is, in words", () => {
  const at = { t: 3e9, duration_ns: 60e9, ahead: 0 };
  assert.match(progressWords({ ...at, state: "playing" }), /3\.000\u00a0s of 1\u00a0min/);
  assert.match(progressWords({ ...at, state: "waiting", ahead: 2 }), /2\u00a0other runs that are played first/);
  assert.match(progressWords({ ...at, state: "waiting", ahead: 1 }), /1\u00a0other run that is played first/);
  assert.match(progressWords({ ...at, state: "waiting" }), /Waiting/);
  assert.match(progressWords({ ...at, state: "ready" }), /on its way/);
});

test("faults at work, in words", () => {
  const fault = { number: 1, name: "break-stream", text: "Break the stream", target: "", since_t: 0, until_t: 5e9, imitates: "" };
  assert.equal(faultWords([], 0), "");
  assert.equal(faultWords([fault], 3e9), "At work: Break the stream for 2.0\u00a0s");
  assert.equal(faultWords([{ ...fault, target: "shop/web", until_t: null }], 0), "At work: Break the stream (shop/web)");
});

test("leaving a branch for another keeps it in the list, once", () => {
  assert.deepEqual(branchesAfter(["b", "c"], "a", "n"), ["a", "b", "c"]);
  assert.deepEqual(branchesAfter(["b", "c"], "a", "b"), ["a", "c"]);
  assert.deepEqual(branchesAfter(["a"], "a", "n"), ["a"]);
});

test("what is to be done where the cursor is on its way to waits until it is there", async () => {
  const { player } = await loaded({ t: 1.5 * S });
  const film = /** @type {any} */ (player.film);
  const { find } = film;
  let arrives = () => {};
  film.find = async (/** @type {any[]} */ ...asked) => find.apply(film, asked);
  film.load = () => new Promise((resolve) => { arrives = () => resolve(null); });
  /** @type {number[]} */
  const at = [];
  const note = () => { at.push(player.t); };
  player.whenThere(note);
  assert.deepEqual(at, [1.5 * S]);
  const found = player.stepRelist(1);
  player.whenThere(note);
  assert.deepEqual(at, [1.5 * S], "it is still looked for");
  await found;
  player.whenThere(note);
  assert.deepEqual(at, [1.5 * S], "its records are on their way");
  arrives();
  await new Promise((resolve) => { setTimeout(resolve); });
  assert.deepEqual(at, [1.5 * S, 2.005 * S, 2.005 * S]);
});

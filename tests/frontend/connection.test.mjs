import assert from "node:assert/strict";
import { test } from "node:test";
import { backoff, Connection } from "../../static/js/connection.js";

/** Sockets and timers that do nothing until told. */
function setUp(more = {}) {
  /** @type {any[]} */
  const sockets = [];
  /** @type {Map<number, {run: () => void, ms: number}>} */
  const timers = new Map();
  /** @type {any[]} */
  const messages = [];
  /** @type {string[]} */
  const links = [];
  let id = 0;
  let since = 0;
  let now = 0;
  const connection = new Connection({
    url: () => `ws://x/ws?since=${since}`,
    open: (url) => {
      const socket = { url, closed: false, close() { this.closed = true; } };
      sockets.push(socket);
      return /** @type {any} */ (socket);
    },
    onMessage: (message) => messages.push(message), onLink: (link) => links.push(link),
    setTimer: (run, ms) => { timers.set(id += 1, { run, ms }); return id; },
    clearTimer: (timer) => { timers.delete(timer); }, random: () => 0.5, clock: () => now, ...more,
  });
  const fire = (/** @type {(ms: number) => boolean} */ which) => {
    for (const [key, timer] of timers) {
      if (!which(timer.ms)) continue;
      timers.delete(key);
      timer.run();
      return;
    }
    assert.fail("no such timer");
  };
  const say = (/** @type {any} */ socket, /** @type {object} */ message) => socket.onmessage({ data: JSON.stringify(message) });
  return { connection, sockets, timers, messages, links, fire, say, resumeFrom: (/** @type {number} */ seq) => { since = seq; }, pass: (/** @type {number} */ ms) => { now += ms; } };
}

const SILENCE = 10_000;
const isPause = (/** @type {number} */ ms) => ms < SILENCE;

test("pauses grow to a cap and are spread", () => {
  assert.deepEqual([0, 1, 2, 3, 20].map((n) => backoff(n, 1)), [250, 500, 1000, 2000, 8000]);
  assert.equal(backoff(3, 0), 1000);
});

test("it is open from the server's hello on", () => {
  const { connection, sockets, links, say, messages } = setUp();
  connection.start();
  assert.deepEqual(links, []);
  say(sockets[0], { type: "hello", session: "a", version: "1" });
  assert.deepEqual(links, ["open"]);
  assert.equal(messages.length, 1);
});

test("after a loss it comes back, asking for what it missed", () => {
  const { connection, sockets, links, say, fire, resumeFrom } = setUp();
  connection.start();
  say(sockets[0], { type: "hello", session: "a", version: "1" });
  resumeFrom(42);
  sockets[0].onclose();
  fire(isPause);
  assert.deepEqual(links, ["open", "waiting"]);
  assert.equal(sockets[1].url, "ws://x/ws?since=42");
});

test("each failure makes the pause longer, a hello makes it short again", () => {
  const { connection, sockets, say, fire, timers } = setUp();
  connection.start();
  for (let i = 0; i < 4; i += 1) {
    sockets[i].onclose();
    fire(isPause);
  }
  assert.equal(connection.attempt, 4);
  say(sockets[4], { type: "hello", session: "a", version: "1" });
  sockets[4].onclose();
  assert.deepEqual([...timers.values()].map((timer) => timer.ms), [backoff(0, 0.5)]);
});

test("a server that says nothing is taken for gone without waiting for its goodbye", () => {
  const { connection, sockets, links, say, fire } = setUp();
  connection.start();
  say(sockets[0], { type: "hello", session: "a", version: "1" });
  fire((ms) => ms === SILENCE);
  assert.equal(links.at(-1), "waiting");
  assert.equal(sockets[0].closed, true);
});

test("what an old socket still says is not heard", () => {
  const { connection, sockets, messages, say, fire } = setUp();
  connection.start();
  sockets[0].onclose();
  fire(isPause);
  say(sockets[0], { type: "state" });
  sockets[0].onclose();
  assert.deepEqual(messages, []);
});

test("a goodbye's reason is kept until the next hello", () => {
  const { connection, sockets, say } = setUp();
  connection.start();
  say(sockets[0], { type: "bye", reason: "plegscope ends." });
  assert.equal(connection.farewell, "plegscope ends.");
  say(sockets[0], { type: "hello", session: "a", version: "1" });
  assert.equal(connection.farewell, "");
});

test("what is no JSON ends the connection", () => {
  const { connection, sockets, messages } = setUp();
  connection.start();
  sockets[0].onmessage({ data: "{" });
  assert.equal(sockets[0].closed, true);
  assert.deepEqual(messages, []);
});

test("back online, it does not wait for the pause to end", () => {
  const { connection, sockets } = setUp();
  connection.start();
  connection.hurry();
  assert.equal(sockets.length, 1, "a try under way is left alone");
  sockets[0].onclose();
  connection.hurry();
  assert.equal(sockets.length, 2);
});

test("whoever insists gets a new connection for one that is open and silent", () => {
  const { connection, sockets, say } = setUp();
  connection.start();
  say(sockets[0], { type: "hello", session: "a", version: "1" });
  connection.hurry();
  assert.equal(sockets.length, 1);
  connection.hurry(true);
  assert.deepEqual([sockets.length, sockets[0].closed], [2, true]);
});

test("how long until the next try is known while there is a pause", () => {
  const { connection, sockets, say, fire, pass } = setUp();
  assert.equal(connection.nextTry(), null);
  connection.start();
  assert.equal(connection.nextTry(), null, "one is under way");
  sockets[0].onclose();
  assert.equal(connection.nextTry(), backoff(0, 0.5));
  pass(100);
  assert.equal(connection.nextTry(), backoff(0, 0.5) - 100);
  pass(1000);
  assert.equal(connection.nextTry(), 0);
  fire(isPause);
  assert.equal(connection.nextTry(), null);
  say(sockets[1], { type: "hello", session: "a", version: "1" });
  assert.equal(connection.nextTry(), null);
});

test("a try that hangs is begun anew by whoever insists, and none is left behind", () => {
  const { connection, sockets, fire, timers, messages, say } = setUp();
  connection.start();
  sockets[0].onclose();
  fire(isPause);
  connection.hurry();
  assert.equal(sockets.length, 2, "it is under way");
  connection.hurry(true);
  assert.deepEqual([sockets.length, sockets[1].closed], [3, true]);
  say(sockets[1], { type: "hello", session: "a", version: "1" });
  assert.deepEqual([messages, timers.size], [[], 1], "only the newest is listened to, and watched");
});

test("a server that lets the page in no more is told from one that is gone", async () => {
  let answer = true;
  let asked = 0;
  const { connection, sockets, say, fire } = setUp({ barred: async () => { asked += 1; return answer; } });
  connection.start();
  say(sockets[0], { type: "hello", session: "a", version: "1" });
  sockets[0].onclose();
  assert.equal(asked, 0, "one that was open tells nothing about the next");
  fire(isPause);
  sockets[1].onclose();
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual([asked, connection.barred], [1, true]);
  fire(isPause);
  answer = false;
  sockets[2].onclose();
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(connection.barred, false);
  answer = true;
  fire(isPause);
  say(sockets[3], { type: "hello", session: "b", version: "1" });
  assert.equal(connection.barred, false);
});

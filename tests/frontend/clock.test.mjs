import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock } from "../../static/js/clock.js";
import { S } from "./kit.mjs";

function setUp() {
  let ms = 1000;
  const clock = new Clock(() => ms);
  return { clock, pass: (/** @type {number} */ by) => { ms += by; } };
}

test("before the first message there is no time", () => {
  assert.equal(setUp().clock.now(), 0);
});

test("between messages time goes on smoothly", () => {
  const { clock, pass } = setUp();
  clock.heard(5 * S, 100 * S);
  pass(250);
  assert.equal(clock.now(), 5.25 * S);
  assert.equal(clock.wall(clock.now()), 100.25 * S);
});

test("a late message does not turn the clock back", () => {
  const { clock, pass } = setUp();
  clock.heard(5 * S, 0);
  pass(1000);
  clock.heard(5.9 * S, 0.9 * S); // It was 100 ms on its way.
  assert.ok(Math.abs(clock.now() - 6 * S) < 1e6);
});

test("an early one puts it forward at once", () => {
  const { clock, pass } = setUp();
  clock.heard(5 * S, 0);
  pass(1000);
  clock.heard(6.05 * S, 1.05 * S);
  assert.equal(clock.now(), 6.05 * S);
});

test("silence is measured from any sign of life", () => {
  const { clock, pass } = setUp();
  clock.heard(5 * S, 0);
  pass(4000);
  assert.equal(clock.silence(), 4 * S);
  clock.alive();
  assert.equal(clock.silence(), 0);
});

test("another session has another time", () => {
  const { clock } = setUp();
  clock.heard(500 * S, 0);
  clock.reset();
  clock.heard(1 * S, 0);
  assert.equal(clock.now(), S);
});

test("a recording's time stands still at its end", () => {
  let local = 0;
  const clock = new Clock(() => local);
  clock.heard(5e9, 9e9);
  clock.still = true;
  local = 3000;
  assert.equal(clock.now(), 5e9);
  assert.equal(clock.wall(clock.now()), 9e9);
});

test("a simulated node's time may go faster than this page's", () => {
  const { clock, pass } = setUp();
  clock.setSpeed(10);
  clock.heard(5 * S, 100 * S);
  pass(250);
  assert.equal(clock.now(), 7.5 * S);
  assert.equal(clock.wall(clock.now()), 102.5 * S);
  clock.heard(7.4 * S, 102.4 * S); // 10 ms late.
  assert.ok(Math.abs(clock.now() - 7.5 * S) < 1e6);
  pass(4000);
  assert.equal(clock.silence(), 4 * S, "silence is a matter of real time");
  assert.ok(Math.abs(clock.lastHeard() - 7.5 * S) < 1e6);
});

test("a speed that is heard again changes nothing, another one begins anew", () => {
  const { clock, pass } = setUp();
  clock.setSpeed(2);
  clock.heard(4 * S, 0);
  pass(1000);
  clock.setSpeed(2);
  assert.equal(clock.now(), 6 * S);
  clock.setSpeed(0.5);
  assert.equal(clock.now(), 0);
  clock.heard(6 * S, 0);
  pass(1000);
  assert.equal(clock.now(), 6.5 * S);
});

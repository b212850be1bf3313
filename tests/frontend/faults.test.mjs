import assert from "node:assert/strict";
import { test } from "node:test";
import { called, left, news } from "../../static/js/faults.js";
import { going } from "../../static/js/faults-page.js";
import { S } from "./kit.mjs";

/** @param {number} number @param {string} text @param {string} [target] @param {number|null} [until_t] */
function fault(number, text, target = "", until_t = 10 * S) {
  return { number, name: "x", text, target, since_t: 0, until_t, imitates: "Something." };
}

test("what begins and what is over is said", () => {
  const before = new Map([[1, "Slow lists"], [2, "Lose events (shop/web)"]]);
  const after = [fault(2, "Lose events", "shop/web"), fault(3, "Break the stream")];
  assert.equal(news(before, after, new Set()), "Fault begins: Break the stream. Fault is over: Slow lists.");
});

test("what the answer to a press has told is not said twice", () => {
  assert.equal(news(new Map(), [fault(3, "Break the stream")], new Set([3])), "");
  assert.equal(news(new Map([[3, "Break the stream"]]), [], new Set([3])), "Fault is over: Break the stream.");
});

test("nothing new is silence", () => {
  const one = fault(1, "Slow lists");
  assert.equal(news(new Map([[1, called(one)]]), [one], new Set()), "");
});

test("a fault is called with the pod it is about", () => {
  assert.equal(called(fault(1, "Lose events", "shop/web-1")), "Lose events (shop/web-1)");
  assert.equal(called(fault(1, "Slow lists")), "Slow lists");
});

test("the time that is left is told in whole seconds, and never below none", () => {
  const one = fault(1, "Slow lists", "", 100 * S);
  assert.equal(left(one, 90 * S), "10\u00a0s");
  assert.equal(left(one, 90.01 * S), "10\u00a0s");
  assert.equal(left(one, 99.9 * S), "1\u00a0s");
  assert.equal(left(one, 130 * S), "0\u00a0s");
  assert.equal(left(one, 10 * S).replaceAll("\u00a0", " "), "1 min 30 s");
  assert.equal(left(fault(1, "Slow lists", "", null), 0), "");
});

test("between two answers what is at work runs down to its end", () => {
  const report = { t: 100 * S, at_work: [fault(1, "Slow lists", "", 115 * S), fault(2, "Break the stream", "", null)] };
  const at = (/** @type {number} */ passed) => {
    const [faults, now] = going(report, passed);
    return faults.map((one) => left(one, now));
  };
  assert.deepEqual(at(0), ["15\u00a0s", ""]);
  assert.deepEqual(at(6.2 * S), ["9\u00a0s", ""]);
  assert.deepEqual(at(15 * S), [""]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { blindAt, choosable, laneHeight, place, rateFor, widthOf, xOf } from "../../static/js/lesson-place.js";
import { answerIn, nothing, opened, readProgress } from "../../static/js/lesson-progress.js";
import { PROFILE_HINTS, progressWords } from "../../static/js/lesson-words.js";

const AXIS = { from: 1e9, scale: 1e-7, width: 400 };

test("words stand at their moments in one line, and never on each other", () => {
  const placed = place([
    { t: 2e9, text: "found" }, { t: 1.99e9, text: "stop event" }, { t: 4.9e9, text: "much later" }, { t: 2.01e9, text: "and more" },
  ], AXIS);
  assert.deepEqual(placed.map(({ text }) => text), ["stop event", "found", "and more", "much later"]);
  for (const [i, one] of placed.entries()) {
    assert.ok(one.left >= 0 && one.left + widthOf(one.text) <= AXIS.width, one.text);
    for (const other of placed.slice(i + 1)) assert.ok(one.left + widthOf(one.text) <= other.left, `${one.text} and ${other.text}`);
  }
});

test("what is not seen is told while it is not, and after what is shown", () => {
  const unseen = [{ uid: "a", begin: 10, to: 20, says: "runs" }, { uid: "b", begin: 10, to: 50, says: "does not run" }];
  assert.deepEqual([...blindAt(unseen, 5, 50)], []);
  assert.deepEqual([...blindAt(unseen, 15, 50)], [["a", "ended, not seen"], ["b", "runs, not seen"]]);
  assert.deepEqual([...blindAt(unseen, 20, 50)], [["b", "runs, not seen"]]);
  assert.deepEqual([...blindAt(unseen, 50, 50)], [["b", "runs, not seen"]]);
});

test("words keep inside, and what is out of sight says on which side", () => {
  const [before, edge, after] = place([{ t: 0, text: "a" }, { t: 4.99e9, text: "at the very edge" }, { t: 9e9, text: "c" }], AXIS);
  assert.equal(before.off, "before");
  assert.equal(after.off, "after");
  assert.equal(edge.off, null);
  assert.ok(edge.left + widthOf("at the very edge") <= AXIS.width);
  assert.equal(Math.round(edge.x), Math.round(xOf(AXIS, 4.99e9)));
});

test("a moment that may be chosen is on the grain, and within", () => {
  const ask = { earliest: 1_000, latest: 2_000 };
  assert.equal(choosable(1_234, ask, 50), 1_250);
  assert.equal(choosable(5, ask, 50), 1_000);
  assert.equal(choosable(9_999, ask, 50), 2_000);
});

test("nobody waits long for time to pass", () => {
  assert.equal(rateFor(24e9, 2.4), 10);
  assert.equal(rateFor(1e6, 2.4), 0.1);
  assert.equal(rateFor(1e15, 2.4), 100);
});

test("lanes fill the room there is", () => {
  assert.equal(laneHeight(600, 2), 300);
  assert.equal(laneHeight(600, 12), 50);
  assert.equal(laneHeight(600, 200), 26);
  assert.equal(laneHeight(600, 0), 600);
});

test("a lesson is done when no step was left out", () => {
  let progress = opened(nothing(), { number: 3, count: 3 }, "");
  assert.equal(progress.done, false, "its last step alone was opened");
  progress = opened(opened(progress, { number: 1, count: 3 }, ""), { number: 2, count: 3 }, "");
  assert.equal(progress.done, true);
  assert.equal(opened(progress, { number: 1, count: 3 }, "").done, true);
  assert.equal(readProgress('{"step":8,"furthest":8,"done":true}').done, false, "kept before steps were counted");
});

test("progress: where it was left, how far, and what was answered", () => {
  let progress = nothing();
  progress = opened(progress, { number: 4, count: 8 }, "choice=poll&at=12");
  progress = opened(progress, { number: 2, count: 8 }, "");
  assert.deepEqual(progress, { step: 2, furthest: 4, seen: [2, 4], done: false, answers: { 4: "choice=poll&at=12" } });
  assert.deepEqual(readProgress(JSON.stringify(progress)), progress);
  assert.equal(progressWords(progress, 8), "; you are at step 2");
  assert.equal(progressWords({ ...progress, done: true }, 8), "; done");
  assert.equal(progressWords(nothing(), 8), "");
});

test("what storage holds is checked", () => {
  for (const text of [null, "", "{", "null", "7", "[]", '{"step":"4"}', '{"step":-1,"furthest":1e9}', '{"answers":{"4":5,"x":"y","500":"a"}}', `{"answers":{"4":"${"a".repeat(300)}"}}`]) {
    assert.deepEqual(readProgress(text), nothing(), String(text));
  }
});

test("the answer in an address", () => {
  assert.equal(answerIn("/lessons/hint-lost?step=4&choice=poll&at=12"), "choice=poll&at=12");
  assert.equal(answerIn("/lessons/hint-lost?step=4&show=1&class=secret"), "", "nobody's own");
  assert.equal(answerIn("/lessons/hint-lost?step=4&show=1"), "show=1");
  assert.equal(answerIn("/lessons/hint-lost?step=4"), "");
});

test("every design says what its stream may do", () => {
  assert.deepEqual(Object.keys(PROFILE_HINTS).sort(), ["1.37", "generic", "kep", "legacy", "polling"]);
});

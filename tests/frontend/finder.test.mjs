import assert from "node:assert/strict";
import { test } from "node:test";
import { left, leftWords } from "../../static/js/finder.js";

const ITEMS = [
  { name: "Refuse the stream", about: "The runtime has no stream." }, { name: "Break the stream", about: "It ends." },
  { name: "Slow lists", about: "Each list takes long; connections do not break." },
];

test("what is typed leaves those that it names, else those that speak of it", () => {
  assert.deepEqual(left(ITEMS, ""), [true, true, true]);
  assert.deepEqual(left(ITEMS, " BREAK "), [false, true, false]);
  assert.deepEqual(left(ITEMS, "stream break"), [false, true, false]);
  assert.deepEqual(left(ITEMS, "connections"), [false, false, true]);
  assert.deepEqual(left(ITEMS, "pizza"), [false, false, false]);
});

test("what is left is said, and what Enter does", () => {
  assert.equal(leftWords(3, "  ", "Refuse the stream"), "");
  assert.equal(leftWords(2, "str", "Refuse the stream").replaceAll("\u00a0", " "), "2 faults: Enter goes to “Refuse the stream”.");
  assert.equal(leftWords(0, " x\u202ey ", ""), "No fault is called “x\ufffdy”.");
});

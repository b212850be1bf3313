// What is said when an answer comes: once, and only of what is new.
import assert from "node:assert/strict";
import test from "node:test";
import { says } from "../../static/js/whatif.js";

test("an answer that has come is said, on one line", () => {
  assert.equal(says("going", "told", " With generic,\n  the median end "), "With generic, the median end");
  assert.equal(says("going", "problem", "It cannot be read."), "It cannot be read.");
});

test("how far it is is not said each second, nor an answer twice", () => {
  assert.equal(says("going", "going", "Reading: 4 %."), "");
  assert.equal(says("told", "told", "With generic"), "");
  assert.equal(says("told", "idle", ""), "");
});

// What a key saves, and that the keys are in the sheet.
import assert from "node:assert/strict";
import test from "node:test";
import { formOf, nowKeys } from "../../static/js/now.js";

const recording = { well: true, file: "/state/a.mcap", trouble: "", bytes_total: 1, bytes_per_s: 1, cpu: 0, cpu_ns: 0, waiting: 0, lost: 0 };

test("a recording is saved where there is one, and lines where there is none or they are wanted", () => {
  assert.equal(formOf(null, false), "lines");
  assert.equal(formOf({ recording: null }, false), "lines");
  assert.equal(formOf({ recording }, false), "recording");
  assert.equal(formOf({ recording }, true), "lines");
  // A full disk: what was recorded before is there all the same.
  assert.equal(formOf({ recording: { ...recording, well: false } }, false), "recording");
  assert.equal(formOf({ recording: { ...recording, file: "" } }, false), "lines");
});

test("each key has a line in the sheet and none is taken twice", () => {
  const keys = nowKeys(/** @type {any} */ ({}));
  assert.deepEqual(keys.flatMap((key) => key.keys), ["o", "s", "S"]);
  for (const key of keys) assert.ok(key.what.length > 10);
});

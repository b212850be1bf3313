import assert from "node:assert/strict";
import { test } from "node:test";
import { besides } from "../../static/js/run-press.js";
import { firstSpan } from "../../static/js/view.js";
import { S } from "./kit.mjs";

const PLOT = { left: 200, right: 1200, width: 1000, bottom: 600 };
const PANEL = { left: 700, right: 1200, top: 200 };

test("the moment of a press stays in sight beside the panel that covers it", () => {
  const end = besides([0, 10 * S], 9 * S, PLOT, PANEL);
  assert.ok(end !== null);
  const x = PLOT.left + ((9 * S - (end - 10 * S)) / (10 * S)) * PLOT.width;
  assert.ok(x < PANEL.left && x > PANEL.left - 60, String(x));
});

test("the picture stands still where the moment is seen, or cannot be", () => {
  assert.equal(besides([0, 10 * S], 2 * S, PLOT, PANEL), null);
  assert.equal(besides([0, 10 * S], 9 * S, PLOT, { ...PANEL, top: 700 }), null);
  assert.equal(besides([0, 10 * S], 9 * S, PLOT, { ...PANEL, left: 210 }), null);
});

test("a short run fills the picture, a long one shows a minute", () => {
  assert.equal(firstSpan(10 * S, 60 * S), 10.3 * S);
  assert.equal(firstSpan(600 * S, 60 * S), 60 * S);
  assert.equal(firstSpan(0, 60 * S), 60 * S);
});

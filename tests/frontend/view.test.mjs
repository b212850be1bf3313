import assert from "node:assert/strict";
import { test } from "node:test";
import { readAddress, writeAddress, DEFAULTS } from "../../static/js/address.js";
import { LONGEST, SHORTEST, View } from "../../static/js/view.js";
import { S } from "./kit.mjs";

const NOW = 1000 * S;
const near = (/** @type {number} */ a, /** @type {number} */ b) => assert.ok(Math.abs(a - b) < 1e3, `${a} is not ${b}`);

test("it follows the present until it is told to stop", () => {
  const view = new View();
  const [from, to] = view.window(NOW);
  assert.ok(to > NOW && to < NOW + 2 * S);
  near(to - from, 60 * S);
  view.pause(NOW);
  assert.deepEqual(view.window(NOW + 5 * S), [from, to]);
  view.follow();
  assert.ok(view.window(NOW + 5 * S)[1] > to);
});

test("back at the present as much is shown as before the window closed in on something, unless it was zoomed since", () => {
  const view = new View();
  view.show(NOW - 10 * S, NOW - 10 * S + 1e6, NOW);
  view.show(NOW - 20 * S, NOW - 20 * S + 2e6, NOW);
  assert.equal(view.span, 20e6);
  view.follow();
  assert.equal(view.span, 60 * S);
  view.show(NOW - 10 * S, NOW - 10 * S + 1e6, NOW);
  view.zoom(2, NOW);
  view.follow();
  assert.equal(view.span, 40e6);
});

test("where motion is not wanted the window moves in steps, and the present stays in it", () => {
  const view = new View();
  view.stepped = true;
  const edges = new Set();
  for (let s = 0; s < 60; s += 1) {
    const [from, to] = view.window(NOW + s * S);
    assert.ok(from < NOW + s * S && to > NOW + s * S);
    edges.add(to);
  }
  assert.ok(edges.size <= 6, String(edges.size));
});

test("zooming keeps the moment under the pointer where it is", () => {
  const view = new View();
  view.pause(NOW);
  const at = NOW - 20 * S;
  const share = () => { const [from, to] = view.window(NOW); return (at - from) / (to - from); };
  const before = share();
  view.zoom(0.5, NOW, at);
  assert.ok(Math.abs(share() - before) < 1e-9);
  near(view.span, 30 * S);
});

test("zooming into the past stops following; at the present it does not", () => {
  const view = new View();
  view.zoom(0.5, NOW, NOW - 1 * S);
  assert.equal(view.following, true);
  view.zoom(0.5, NOW, NOW - 25 * S);
  assert.equal(view.following, false);
});

test("there is a shortest and a longest span", () => {
  const view = new View();
  view.zoom(1e-9, NOW);
  assert.equal(view.span, SHORTEST);
  view.zoom(1e12, NOW);
  assert.equal(view.span, LONGEST);
});

test("panning cannot run far ahead of the present", () => {
  const view = new View();
  view.pan(500 * S, NOW);
  assert.ok(view.window(NOW)[1] <= NOW + 30 * S);
});

test("showing a chain gives it room, revealing moves only if need be", () => {
  const view = new View();
  view.show(NOW - 10 * S, NOW - 9.9 * S, NOW);
  const [from, to] = view.window(NOW);
  assert.ok(from < NOW - 10 * S && to > NOW - 9.9 * S);
  near(view.span, 0.3 * S);
  const before = view.window(NOW);
  view.reveal(NOW - 9.95 * S, NOW);
  assert.deepEqual(view.window(NOW), before);
  view.reveal(NOW - 500 * S, NOW);
  const [left, right] = view.window(NOW);
  assert.ok(left < NOW - 500 * S && right > NOW - 500 * S);
});

test("what is shown goes into the address and comes back", () => {
  const shown = { ...DEFAULTS, view: /** @type {const} */ ("table"), filter: "cart shop", group: /** @type {const} */ ("namespace"), rows: "compact", span: 12.5 * S, end: 99.5 * S, selected: 412, off: ["other", "wait"], zone: /** @type {const} */ ("local") };
  assert.deepEqual(readAddress(writeAddress(shown)), shown);
});

test("so does how the pods are arranged, as far as a link holds it", () => {
  const shown = { ...DEFAULTS, selected: 7, sort: /** @type {const} */ ("slowest"), pins: ["shop/cart-1", "a b/c&d=e"], unfolded: ["data/redis-0"], quietFolded: true, near: true };
  assert.deepEqual(readAddress(writeAddress(shown)), shown);
  const all = { ...DEFAULTS, allUnfolded: true };
  assert.deepEqual(readAddress(writeAddress(all)), all);
  // Near what, if nothing is selected?
  assert.equal(writeAddress({ ...DEFAULTS, near: true }), "");
  const many = Array.from({ length: 99 }, (_, i) => `pin=n/${i}&open=${"x".repeat(i * 10)}`).join("&");
  const read = readAddress(`?${many}&sort=size&quiet=yes&near=2`);
  assert.deepEqual([read.pins.length, read.unfolded.length, read.sort, read.quietFolded, read.near], [24, 24, "activity", false, false]);
  assert.ok(readAddress(`?${many}`).unfolded.every((key) => key.length <= 400));
});

test("defaults leave the address clean", () => {
  assert.equal(writeAddress(DEFAULTS), "");
  assert.deepEqual(readAddress(""), DEFAULTS);
});

test("nonsense in the address is not taken", () => {
  assert.deepEqual(readAddress("?view=x&group=y&rows=z&span=-4&end=abc&select=0&hide=<b>&zone=mars"), DEFAULTS);
  assert.equal(readAddress(`?filter=${"x".repeat(900)}`).filter.length, 200);
});

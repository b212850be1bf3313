import assert from "node:assert/strict";
import { test } from "node:test";
import { KINDS, Model, askedOf, clockOf, glyphOf, momentOf, readShown, writeShown } from "../../static/js/compare-model.js";
import { MS, report, row, seen, who, wrong } from "./compare-kit.mjs";

const sooner = [[0, "sooner", "440 ms sooner"]];
const rows = () => [
  row("end", [seen(1000, 80), seen(1000, 520)], sooner),
  row("start", [seen(1500, 5), seen(1500, 5)]),
  row("end", [seen(9000, 80), seen(9000, 90)], [], who("calm-0")),
  row("end", [seen(4000, null), seen(4000, 500)], [[0, "never", "unseen at the end"]], who("web-1")),
  wrong([{ t: 3000 * MS, until_t: null }, null], [[0, "wrong", "wrong to the end"]], who("web-2")),
];

test("differences come in order of time, each row once", () => {
  const model = new Model(report(rows()));
  assert.deepEqual(model.differences.map(({ id, t }) => [id, t / MS]), [[0, 1000], [4, 3000], [3, 4000]]);
  assert.deepEqual(model.counts(), { sooner: 1, later: 0, never: 1, wrong: 1, absent: 0 });
});

test("a difference is where it happened in the run that is marked", () => {
  const drifted = row("start", [seen(2000, 5), seen(2600, 5)], sooner);
  assert.equal(momentOf(drifted, 1), 2000 * MS);
  const gone = row("start", [null, seen(2600, 5)], [[0, "absent", "did not happen here"]]);
  assert.equal(momentOf(gone, 1), 2600 * MS);
  const only = row("start", [seen(700, 5), null, null], [[1, "absent", ""], [2, "absent", ""]]);
  assert.equal(momentOf(only, 1), 700 * MS);
});

test("kinds and words filter; a row with a kind that is shown stays", () => {
  const both = row("end", [seen(1, 2), seen(1, 3), null], [[0, "sooner", ""], [2, "absent", ""]]);
  const model = new Model(report([both], { names: ["a", "b", "c"] }));
  assert.equal(model.shown(new Set(["sooner"]), "").length, 1);
  assert.equal(model.shown(new Set(["sooner", "absent"]), "").length, 0);
  assert.equal(model.shown(new Set(), "SHOP/web").length, 1);
  assert.equal(model.shown(new Set(), "web nothing").length, 0);
});

test("pods with a difference come in order of their first one; calm ones on demand, last", () => {
  const model = new Model(report(rows()));
  const names = (...args) => model.lanes(...args).map(({ name }) => name);
  assert.deepEqual(names(new Set(), "", false), ["web-0", "web-2", "web-1"]);
  assert.deepEqual(names(new Set(["sooner"]), "", false), ["web-2", "web-1"]);
  assert.deepEqual(names(new Set(), "", true), ["web-0", "web-2", "web-1", "calm-0"]);
  assert.deepEqual(names(new Set(), "calm", true), ["calm-0"]);
});

test("where nothing differs all pods are shown", () => {
  const model = new Model(report([row("end", [seen(1, 2), seen(1, 2)])]));
  assert.deepEqual(model.lanes(new Set(), "", false).map(({ name }) => name), ["web-0"]);
});

test("the next difference: after the selected one, else after the window's edge; none at the end", () => {
  const model = new Model(report(rows()));
  const among = model.shown(new Set(), "");
  const ids = (t, selected, direction) => model.next(among, t, selected, direction)?.id ?? null;
  assert.equal(ids(0, null, 1), 0);
  assert.equal(ids(2000 * MS, null, 1), 4);
  assert.equal(ids(2000 * MS, null, -1), 0);
  assert.equal(ids(0, 0, 1), 4);
  assert.equal(ids(0, 3, 1), null);
  assert.equal(ids(0, 4, -1), 0);
  assert.equal(ids(0, 0, -1), null);
  // One that is hidden does not hold the reader up.
  assert.equal(model.next(model.shown(new Set(["wrong"]), ""), 0, 4, 1)?.id, 0);
});

test("the window opens a little before the first difference, and within the runs", () => {
  const none = { from: null, span: null };
  const late = new Model(report([row("end", [seen(599_000, 80), seen(599_000, 520)], sooner)]));
  assert.deepEqual(late.opening(none).map((t) => t / MS), [570_000, 600_000]);
  const short = new Model(report(rows(), { duration: 10_000 }));
  assert.deepEqual(short.opening(none).map((t) => t / MS), [0, 10_000]);
  assert.deepEqual(new Model(report([])).opening(none), [0, 30e9]);
  // A window of its own; a moment to be seen; a span alone.
  const long = new Model(report(rows()));
  assert.deepEqual(long.opening({ from: 5e9, span: 2e9 }), [5e9, 7e9]);
  assert.deepEqual(long.opening({ from: 100e9, span: null }), [91e9, 121e9]);
  assert.deepEqual(long.opening({ from: null, span: 600e9 }), [0, 600e9]);
});

test("how it was noticed has a shape", () => {
  assert.equal(glyphOf("end", seen(0, 5)), "died-poll");
  assert.equal(glyphOf("end", seen(0, 5, { source: "evented_pleg" })), "died-req");
  assert.equal(glyphOf("start", seen(0, 5, { source: "post_sync" })), "started-req");
  assert.equal(glyphOf("start", seen(0, 5, { source: "believed" })), "started-event");
  assert.equal(glyphOf("end", seen(0, null)), "never");
});

test("the address keeps the runs as they stand, and what is shown of them", () => {
  const search = "?scenario=demo&profile=kep&profile=generic&press=5s!break-stream!shop/web-0&t=1&hide=later";
  const shown = { from: 12.5e9, span: 30e9, selected: 4, off: ["sooner", "absent"], view: "table", filter: "web 1", all: true };
  const written = writeShown(search, /** @type {any} */ (shown));
  assert.ok(written.startsWith("?scenario=demo&profile=kep&profile=generic&press=5s!break-stream!shop/web-0&"));
  assert.deepEqual(readShown(written), { ...shown, off: ["absent", "sooner"] });
  assert.equal(askedOf(written), askedOf(search));
  assert.equal(askedOf("?run=a%3Db&run=c&plain=1&sel=3"), "run=a%3Db&run=c");
});

test("nonsense in the address is not followed", () => {
  const shown = readShown("?t=x&span=-1&sel=1e99&hide=a,later,%3Cb%3E&view=nothing&filter=" + "y".repeat(500));
  assert.deepEqual({ ...shown, filter: shown.filter.length }, { from: null, span: null, selected: null, off: ["later"], view: "timeline", filter: 200, all: false });
});

test("times of the runs", () => {
  assert.equal(clockOf(0), "0:00");
  assert.equal(clockOf(65e9), "1:05");
  assert.equal(clockOf(65.1204e9, 3), "1:05.120");
  assert.equal(clockOf(59.9996e9, 3), "1:00.000");
  assert.equal(clockOf(-5e9), "−0:05");
});

test("each kind has a name and a line", () => {
  assert.deepEqual(KINDS.map(({ id }) => id), ["sooner", "later", "never", "wrong", "absent"]);
  assert.ok(KINDS.every(({ name, line }) => name && line.endsWith(".")));
});

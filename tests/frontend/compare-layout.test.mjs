import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../static/js/compare-model.js";
import { layoutCompare, placeLines, stretches } from "../../static/js/compare-layout.js";
import { columnsOf } from "../../static/js/compare-minimap.js";
import { LAYER } from "../../static/js/layout.js";
import { MS, report, row, seen, who, wrong } from "./compare-kit.mjs";

const HEADS = { ruler: 26, global: 24, stream: 20 };
const SCALE = 100 / 1e9;

function laid(rows, { selected = null, off = new Set(), from = 0, to = 20e9, drawn = {} } = {}) {
  const model = new Model(report(rows, { drawn }));
  const pods = model.lanes(off, "", true);
  const { lines } = placeLines(pods, 2, { heading: 22, lane: 26, selected: null });
  return { model, lines, list: layoutCompare({ model, lines, from, to, scale: SCALE, off, selected, heads: HEADS, em: 1 }) };
}

const at = (layers, layer, k) => layers[LAYER[layer]].filter((item) => item.k === k);
const lane = ({ lines }, run) => lines.find((line) => line.lane?.run === run);

test("each pod has a heading and a lane per run, one below the other", () => {
  const { lines, height } = placeLines(new Model(report([row("end", [seen(1, 2), seen(1, 2)]), row("end", [seen(5, 2), null], [], who("web-1"))])).lanes(new Set(), "", true), 2, { heading: 22, lane: 26, selected: "uid-web-1" });
  assert.deepEqual(lines.map(({ lane: own, y, tall }) => [own?.run ?? null, y, tall]), [[null, 0, false], [0, 22, false], [1, 48, false], [null, 74, false], [0, 96, true], [1, 122, true]]);
  assert.equal(height, 148);
});

test("all runs share one axis: the same moment is at the same x", () => {
  const drawn = laid([row("end", [seen(2000, 80), seen(2000, 520)], [[0, "sooner", "440 ms sooner"]])]);
  const ticks = at(drawn.list.lanes, "said", "tick");
  assert.deepEqual(ticks.map(({ x }) => x), [200, 200]);
  const found = at(drawn.list.lanes, "found", "glyph");
  assert.deepEqual(found.map(({ x, c }) => [x, c]), [[208, "died-poll"], [252, "died-poll"]]);
  assert.ok(found[0].y > lane(drawn, 0).y && found[0].y < lane(drawn, 1).y);
});

test("amber runs from the runtime's knowing to the finding, of ends only", () => {
  const drawn = laid([row("end", [seen(2000, 80), seen(2000, 520)]), row("start", [seen(4000, 900), seen(4000, 900)])]);
  const tails = at(drawn.list.lanes, "tail", "tail").map(({ x, x2 }) => [Math.round(x), Math.round(x2)]);
  assert.deepEqual(tails, [[205, 208], [205, 252]]);
});

test("a hint's chain: the stop event, the targeted relist, the finding", () => {
  const hint = seen(2000, 80, { source: "evented_pleg", stop_t: 2055 * MS, relist_t: 2060 * MS });
  const own = seen(3000, 80, { source: "post_sync", relist_t: 3070 * MS });
  const { list } = laid([row("end", [hint, seen(2000, 520)]), row("start", [own, own])]);
  assert.deepEqual(at(list.lanes, "said", "glyph").map(({ c, x }) => [c, Math.round(x * 10) / 10]), [["stop", 205.5]]);
  assert.equal(at(list.lanes, "bar", "relist").length, 1);
  assert.equal(at(list.lanes, "bar", "own").length, 2);
});

test("what was not seen is marked where the runtime knew, and amber to the end", () => {
  const { list } = laid([row("end", [seen(2000, null), seen(2000, 520)], [[0, "never", "unseen at the end"]])]);
  const [glyph] = at(list.lanes, "lost", "glyph");
  assert.deepEqual([glyph.c, Math.round(glyph.x)], ["never", 205]);
  assert.equal(at(list.lanes, "tail", "tail")[0].x2, Infinity);
  assert.equal(at(list.lanes, "chain", "say")[0].text, "unseen at the end");
});

test("wrong is amber as long as it lasts", () => {
  const { list } = laid([wrong([{ t: 3000 * MS, until_t: 7500 * MS }, null], [[0, "wrong", "wrong for 4.5 s"]])]);
  const [glyph] = at(list.lanes, "lost", "glyph");
  assert.equal(glyph.c, "wrong");
  const [tail] = at(list.lanes, "tail", "tail");
  assert.deepEqual([tail.x, tail.x2], [300, 750]);
});

test("what did not happen here is marked where it happened in the reference", () => {
  const { list } = laid([row("end", [null, seen(2000, 520)], [[0, "absent", "did not happen here"]])]);
  const [glyph] = at(list.lanes, "lost", "glyph");
  assert.deepEqual([glyph.c, glyph.x], ["absent", 200]);
});

test("words only where there is room; the selection's always, and then only those", () => {
  const near = [row("end", [seen(2000, 80), seen(2000, 520)], [[0, "sooner", "440 ms sooner"]]), row("start", [seen(2200, 5), seen(2600, 5)])];
  assert.deepEqual(at(laid(near).list.lanes, "chain", "say"), []);
  const chosen = at(laid(near, { selected: 0 }).list.lanes, "chain", "say");
  assert.deepEqual(chosen.map(({ text }) => text), ["◂ 440 ms sooner"]);
  const far = [row("end", [seen(2000, 80), seen(2000, 520)], [[0, "sooner", "440 ms sooner"]])];
  assert.equal(at(laid(far).list.lanes, "chain", "say").length, 1);
  assert.equal(at(laid(far, { off: new Set(["sooner"]) }).list.lanes, "chain", "say").length, 0);
});

test("a long amber line carries its words itself", () => {
  const { list } = laid([row("end", [seen(2000, 80), seen(2000, 15_000)], [[1, "later", "15 s later"]]), row("start", [seen(17_100, 5), seen(17_100, 5)])]);
  const [words] = at(list.lanes, "chain", "say");
  assert.equal(words.text, "▸ 15 s later");
  assert.ok(words.x < 300);
});

test("the selected difference's findings are joined, run by run", () => {
  const { list } = laid([row("end", [seen(2000, 80), seen(2000, 520)], [[0, "sooner", "x"]])], { selected: 0 });
  const elbows = at(list.lanes, "run", "elbow");
  assert.deepEqual(elbows.map(({ x, x2 }) => [x, x2]), [[208, 252], [252, 252]]);
  const other = laid([row("end", [seen(2000, 80), seen(2000, 520)], [[0, "sooner", "x"]]), row("start", [seen(9000, 5), seen(9000, 5)])], { selected: 0 });
  assert.deepEqual(at(other.list.lanes, "found", "glyph").map(({ dim, seq }) => [seq, dim]), [[1, false], [2, true], [1, false], [2, true]]);
});

test("what is out of sight is not laid out, whatever the order of the rows", () => {
  const rows = [row("end", [seen(1000, 5), seen(90_000, 5)]), row("end", [seen(2000, 5), seen(2000, 5)], [], who("web-0", 1))];
  const { list } = laid(rows);
  assert.deepEqual(at(list.lanes, "found", "glyph").map(({ seq }) => seq), [1, 2, 2]);
});

test("lanes say what the cache had running, and have their own run's polls and stream", () => {
  const drawn = {
    pods: [{ uid: "uid-web-0", namespace: "shop", pod: "web-0", running: [[0, 1], [2e9, 0], [3e9, 1]], gone_t: null }],
    relists: [[1e9, 1.005e9], [1.01e9, 1.02e9], [2e9, 2.005e9]], stream: [[0, "connecting"], [1e9, "connected"], [5e9, "waiting"], [7e9, "connected"]],
  };
  const { list } = laid([row("end", [seen(2000, 80), seen(2000, 80)])], { drawn });
  assert.deepEqual(at(list.lanes, "run", "run").map(({ x }) => x), [0, 300, 0, 300]);
  assert.equal(at(list.lanes, "run", "dots").length, 2);
  assert.deepEqual(at(list.lanes, "band", "hair").map(({ x }) => x), [100, 200, 100, 200]);
  assert.deepEqual(at(list.lanes, "tint", "tint").map(({ x, x2 }) => [x, x2]), [[500, 700], [500, 700]]);
  assert.equal(at(list.rows, "run", "down").length, 2);
});

test("a stream that is not used, or only being opened, is not down", () => {
  assert.deepEqual(stretches([]).map(({ k }) => k), ["alone"]);
  assert.deepEqual(stretches([[0, "off"]]).map(({ k }) => k), ["alone"]);
  assert.deepEqual(stretches([[5, "connecting"], [9, "connected"], [20, "connecting"]]).map(({ begin, end, k }) => [begin, end, k]), [[0, 9, "alone"], [9, 20, "stream"], [20, Infinity, "down"]]);
});

test("the strip counts each difference once, amber apart", () => {
  const model = new Model(report([
    row("end", [seen(0, 80), seen(0, 520)], [[0, "sooner", ""]]),
    row("end", [seen(599_999, null), seen(599_999, 5)], [[0, "never", ""]], who("b")),
    row("end", [seen(600_100, 80), seen(600_100, 520)], [[0, "later", ""]], who("c")),
  ]));
  const { calm, amber } = columnsOf(model.differences, model.end, 10);
  assert.deepEqual([...calm], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...amber], [0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
});

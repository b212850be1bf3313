// @ts-check
/**
 * What is drawn of times of which no record is here: bins, the worst of each to be seen; and hatches
 * where nothing is known.
 *
 * @typedef {import("./layout.js").Item} Item
 * @typedef {import("./layout.js").Scene} Scene
 * @typedef {import("./bins.js").Span} Span
 * @typedef {{bins: import("./bins.js").Bins, width: number, n: number, spans: Span[], unknown: Span[], now: number}} Older
 *   Bins of this width (ns), `n` to a cell, in the `spans` of which no record is here; what of them is
 *   `unknown`; `now`: what comes later has not happened yet
 */
import { TILE } from "./bins.js";
import { LAYER } from "./layers.js";
import { barHeight } from "./layout-heads.js";
import { lookOf } from "./stretch.js";
import { duration } from "./words.js";

/** Calls for each tile that reaches into a span, with both. @param {Older} older @param {(index: number, span: Span) => void} call */
function tiles(older, call) {
  const size = TILE * older.width;
  for (const span of older.spans) {
    const last = Math.ceil(span[1] / size);
    for (let index = Math.max(0, Math.floor(span[0] / size)); index < last; index += 1) call(index, span);
  }
}

/** @param {Scene} scene @param {Older} older @param {string} uid @param {number} top @param {number} h @param {Item[][]} out @param {(t: number) => number} px @param {boolean} dim */
export function layoutOlderLane(scene, older, uid, top, h, out, px, dim) {
  if (!older.width) return;
  const cell = older.width * older.n;
  tiles(older, (index, [from, to]) => {
    const cells = older.bins.cells(uid, index, older.n, scene.off);
    if (!cells) return;
    out[LAYER.found].push({ k: "cells", x: px(index * TILE * older.width), x1: px(from), x2: px(to), y: top, h, w: cell * scene.scale, cells, dim, uid });
  });
}

/** Global relists and the stream in that time. @param {Scene} scene @param {Older} older @param {Item[][]} rows @param {Item[][]} lanes @param {(t: number) => number} px */
export function layoutOlderHeads(scene, older, rows, lanes, px) {
  if (!older.width) return;
  relists(scene, older, rows, lanes, px);
  streamBefore(scene, older, rows, lanes, px);
}

/** A bar for each cell: the longest of it. @param {Scene} scene @param {Older} older @param {Item[][]} rows @param {Item[][]} lanes @param {(t: number) => number} px */
function relists(scene, older, rows, lanes, px) {
  const { off, heads, em, scale } = scene;
  const { width, n, bins } = older;
  const floor = heads.ruler + heads.global - 2;
  const room = heads.global - 11 * em;
  const polled = ["poll", "poll_end"].map((mark) => bins.marks.indexOf(mark));
  const cell = width * n;
  tiles(older, (index, [from, to]) => {
    const tile = bins.tile(width, index);
    if (!tile) return;
    /** Longest relist by cell, and whether one failed. @type {Map<number, {took: number, failed: boolean, polled: boolean}>} */
    const found = new Map();
    const at = (/** @type {number} */ place) => {
      const key = Math.floor(place / n);
      let one = found.get(key);
      if (!one) found.set(key, one = { took: 0, failed: false, polled: false });
      return one;
    };
    for (let i = 0; i < tile.relists.length; i += 4) {
      const one = at(tile.relists[i]);
      one.took = Math.max(one.took, tile.relists[i + 2]);
      one.failed ||= tile.relists[i + 3] > 0;
    }
    for (let i = 0; i < tile.all.length; i += 3) if (polled.includes(tile.all[i + 1])) at(tile.all[i]).polled = true;
    for (const [place, one] of found) {
      const begin = index * TILE * width + place * cell;
      if (begin >= to || begin + cell <= from) continue;
      const x2 = Math.min(px(begin + cell), px(to));
      // It ended in here; where exactly is not told.
      const x = Math.min(Math.max(px(begin), px(from)), x2 - one.took * scale);
      if (one.took) {
        const h = barHeight(one.took, room);
        rows[LAYER.bar].push({ k: one.failed ? "failed" : "bar", x, x2: Math.max(x + 2, x2 - 1), y: floor - h, h });
      }
      if (one.polled && !off.has("poll")) rows[LAYER.found].push({ k: "glyph", c: "died-poll", x: (x + x2) / 2, y: heads.ruler + 6 * em, s: 6.5 * em });
      if (!off.has("global") && x2 - x > cell * scale + 3) lanes[LAYER.band].push({ k: "band", x, x2, y: 0, h: Infinity });
    }
  });
}

/** What of the spans is known. @param {Older} older @returns {Span[]} */
function knownOf({ spans, unknown }) {
  return unknown.reduce((left, [from, to]) => left.flatMap(([begin, end]) => /** @type {Span[]} */ ([[begin, Math.min(end, from)], [Math.max(begin, to), end]])
    .filter((part) => part[0] < part[1])), spans);
}

/** @param {Scene} scene @param {Older} older @param {Item[][]} rows @param {Item[][]} lanes @param {(t: number) => number} px */
function streamBefore({ store, heads, off, now }, older, rows, lanes, px) {
  const y = heads.ruler + heads.global + heads.stream - 4;
  const here = store.stretches[0]?.from ?? Infinity;
  const { turns } = older.bins;
  for (const [begin, end] of knownOf(older)) {
    turns.forEach((turn, i) => {
      const from = Math.max(turn.t, begin);
      // From when on the page's own records tell of it.
      const to = Math.min(turns[i + 1]?.t ?? Infinity, begin < older.now ? here : Infinity, end);
      if (to <= from) return;
      const stretch = { from: turn.t, to, state: turn.state, meaning: turn.meaning, seq: 0, tries: [], code: turn.code, first: i === 0 && turn.state === "connecting" };
      const item = { x: px(from), x2: px(to), y, s: 4, note: turn.meaning };
      const look = lookOf(stretch, now);
      if (look === "up") rows[LAYER.run].push({ k: "stream", ...item });
      else if (look === "alone") rows[LAYER.run].push({ k: "alone", ...item });
      else {
        rows[LAYER.run].push({ k: "down", ...item });
        if (!off.has("down")) lanes[LAYER.tint].push({ k: "tint", x: px(from), x2: px(to), y: 0, h: Infinity });
      }
    });
  }
}

/** Why nothing is known of a span. @param {Older} older @param {Span} span */
function why({ bins, now }, [from, to]) {
  if (to > bins.until && bins.known.length) return bins.reading ? "not read yet" : "not counted: there was no room for more";
  return `${from < now ? "older" : "later"} records are not on this page`;
}

/** Hatches: what is not known, and what was lost then. @param {Older} older @param {Item[][]} lanes @param {(t: number) => number} px */
export function layoutOlderHoles(older, lanes, px) {
  const hatch = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ text) => {
    lanes[LAYER.hatch].push({ k: "hatch", x: px(from), x2: Math.max(px(from) + 3, px(to)), y: 0, h: Infinity, text });
  };
  for (const span of older.unknown) hatch(...span, why(older, span));
  for (const gap of older.bins.gaps) {
    if (older.spans.some(([from, to]) => gap.to_t >= from && gap.from_t <= to)) hatch(gap.from_t, gap.to_t, `not known here, ${duration(gap.to_t - gap.from_t)}`);
  }
}

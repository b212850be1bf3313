// @ts-check
/**
 * What is drawn of the time before the oldest record here: bins, the worst of each to be seen.
 *
 * @typedef {import("./layout.js").Item} Item
 * @typedef {import("./layout.js").Scene} Scene
 * @typedef {{bins: import("./bins.js").Bins, width: number, n: number, from: number, to: number}} Older
 *   Bins of this width (ns), `n` to a cell, known between two times
 */
import { TILE } from "./bins.js";
import { LAYER } from "./layers.js";
import { barHeight } from "./layout-heads.js";
import { lookOf } from "./stretch.js";

/** Calls for each tile that reaches into the time that is shown. @param {Older} older @param {Scene} scene @param {(index: number) => void} call */
function tiles(older, scene, call) {
  const size = TILE * older.width;
  const last = Math.ceil(Math.min(older.to, scene.to) / size);
  for (let index = Math.max(0, Math.floor(Math.max(older.from, scene.from) / size)); index < last; index += 1) call(index);
}

/** @param {Scene} scene @param {Older} older @param {string} uid @param {number} top @param {number} h @param {Item[][]} out @param {(t: number) => number} px @param {boolean} dim */
export function layoutOlderLane(scene, older, uid, top, h, out, px, dim) {
  if (!older.width) return;
  const cell = older.width * older.n;
  const limit = px(older.to);
  tiles(older, scene, (index) => {
    const cells = older.bins.cells(uid, index, older.n, scene.off);
    if (!cells) return;
    out[LAYER.found].push({ k: "cells", x: px(index * TILE * older.width), x2: limit, y: top, h, w: cell * scene.scale, cells, dim, uid });
  });
}

/** Global relists and the stream before the oldest record. @param {Scene} scene @param {Older} older @param {Item[][]} rows @param {Item[][]} lanes @param {(t: number) => number} px */
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
  tiles(older, scene, (index) => {
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
      if (begin >= older.to) continue;
      const x2 = Math.min(px(begin + cell), px(older.to));
      // It ended in here; where exactly is not told.
      const x = Math.min(px(begin), x2 - one.took * scale);
      if (one.took) {
        const h = barHeight(one.took, room);
        rows[LAYER.bar].push({ k: one.failed ? "failed" : "bar", x, x2: Math.max(x + 2, x2 - 1), y: floor - h, h });
      }
      if (one.polled && !off.has("poll")) rows[LAYER.found].push({ k: "glyph", c: "died-poll", x: (x + x2) / 2, y: heads.ruler + 6 * em, s: 6.5 * em });
      if (!off.has("global") && x2 - x > cell * scale + 3) lanes[LAYER.band].push({ k: "band", x, x2, y: 0, h: Infinity });
    }
  });
}

/** @param {Scene} scene @param {Older} older @param {Item[][]} rows @param {Item[][]} lanes @param {(t: number) => number} px */
function streamBefore({ store, heads, off, now }, older, rows, lanes, px) {
  const y = heads.ruler + heads.global + heads.stream - 4;
  const here = store.stretches[0]?.from ?? older.to;
  const { turns } = older.bins;
  turns.forEach((turn, i) => {
    const from = Math.max(turn.t, older.from);
    const to = Math.min(turns[i + 1]?.t ?? Infinity, here, older.to);
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

// @ts-check
/**
 * One lane: three tiers, said above asked above found, cause before effect.
 *
 * Positions in time are never nudged; only the findings of one relist fan out to the right. Marks
 * of one kind that would fall on the same pixel are drawn once.
 *
 * @typedef {import("./layout.js").Item} Item
 * @typedef {import("./layout.js").Scene} Scene
 * @typedef {import("./lineup.js").Row} Row
 * @typedef {import("./lane.js").Lane} Lane
 */
import { firstWithin, lowerBound } from "./lane.js";
import { LAYER } from "./layers.js";
import { layoutOlderLane } from "./layout-older.js";
import { findGlyph } from "./story.js";
import { foundHow } from "./words.js";

/** Size of the marks and tiers of a lane of height `h`. @param {number} h @param {number} em */
export function geometry(h, em = 1) {
  const s = Math.min(11 * em, Math.max(6, 0.34 * h));
  return { s, said: 0.22 * h, asked: 0.51 * h, found: 0.8 * h, bar: Math.min(10 * em, 0.3 * h) };
}

/**
 * @param {Scene} scene @param {Row} row @param {Lane} lane @param {Item[][]} out
 * @param {(t: number) => number} px @param {boolean} dim
 */
export function layoutLane(scene, row, lane, out, px, dim) {
  const top = row.y + scene.label;
  const h = row.h - scene.label;
  const g = row.tall ? tallGeometry(h, scene.em) : geometry(h, scene.em);
  const at = { scene, lane, out, px, dim, top, h, g, uid: lane.uid };
  running(at);
  if (scene.older) layoutOlderLane(scene, scene.older, lane.uid, top, h, out, px, dim);
  if (crowded(scene, lane)) {
    bins(at);
    unnoticed(at);
    return;
  }
  syncs(at);
  tails(at);
  asks(at);
  relists(at);
  finds(at);
  said(at);
}

/** A selected lane has room: marks of the largest size, tiers further apart. @param {number} h @param {number} em */
function tallGeometry(h, em) {
  return { s: 12 * em, said: 0.24 * h, asked: 0.5 * h, found: 0.78 * h, bar: 12 * em };
}

/** More marks than one in so many px cannot be told apart: the lane becomes bins. */
const CROWD_PX = 4;
const BIN_PX = 3;

/** @param {Scene} scene @param {Lane} lane */
function crowded(scene, lane) {
  const within = (/** @type {any[]} */ items, key = "t") => lowerBound(items, scene.to, key) - lowerBound(items, scene.from, key);
  const marks = within(lane.stops) + within(lane.finds) + within(lane.relists, "from");
  return marks > ((scene.to - scene.from) * scene.scale) / CROWD_PX;
}

/** How bad a finding is in a bin, and what hides it. */
const FOUND = ["calm", "req", "event", "poll", "discarded"];
const FOUND_RANK = [1, 2, 2, 3, 4];

/** What is needed of findings to bin them, so that a crowded lane need not be read anew for each frame. @type {WeakMap<any[], {n: number, how: Uint8Array}>} */
const facts = new WeakMap();

/** Of each finding its place in `FOUND`. @param {import("./lane.js").Find[]} finds grows at its end, or is another array */
function kinds(finds) {
  let known = facts.get(finds);
  if (!known) facts.set(finds, known = { n: 0, how: new Uint8Array(64) });
  if (known.how.length < finds.length) {
    const wider = new Uint8Array(Math.max(finds.length, known.how.length * 2));
    wider.set(known.how);
    known.how = wider;
  }
  for (; known.n < finds.length; known.n += 1) {
    const { rec } = finds[known.n];
    known.how[known.n] = FOUND.indexOf(rec.delivery === "discarded" ? "discarded" : foundHow(rec));
  }
  return known.how;
}

/** One cell per bin; the worst of it wins: lost, then late, then found. @param {At} at */
function bins({ scene, lane, out, px, dim, top, h, uid }) {
  // Cells are counted from time 0, not from the list's origin: a bin keeps its records while the window glides.
  const size = BIN_PX / scene.scale;
  const first = Math.floor(scene.from / size);
  const count = Math.ceil(scene.to / size) - first + 1;
  const ranks = new Uint8Array(count);
  const seqs = new Float64Array(count);
  const put = (/** @type {number} */ t, /** @type {number} */ rank, /** @type {number} */ seq) => {
    const cell = Math.floor(t / size) - first;
    if (cell < 0 || cell >= count || rank <= ranks[cell]) return;
    ranks[cell] = rank;
    seqs[cell] = seq;
  };
  const how = kinds(lane.finds);
  const worth = FOUND.map((kind, i) => (scene.off.has(kind === "discarded" ? "dropped" : kind) ? 0 : FOUND_RANK[i]));
  for (let i = lowerBound(lane.finds, scene.from); i < lane.finds.length && lane.finds[i].t <= scene.to; i += 1) put(lane.finds[i].t, worth[how[i]], lane.finds[i].seq);
  if (!scene.off.has("dropped")) {
    for (let i = lowerBound(lane.asks, scene.from); i < lane.asks.length && lane.asks[i].t <= scene.to; i += 1) {
      const { end, endT, t, endSeq, seq } = lane.asks[i];
      if (end === "dropped") put(endT ?? t, 4, endSeq ?? seq);
    }
  }
  for (let cell = 0; cell < count; cell += 1) {
    const rank = ranks[cell];
    if (!rank) continue;
    const tall = rank <= 2 ? h * 0.62 : h - 2;
    const x = px((first + cell) * size);
    out[LAYER.found].push({ k: "bin", c: ["", "glob", "found", "late", "lost"][rank], x, x2: x + BIN_PX, y: top + h - 1 - tall, h: tall, seq: seqs[cell], dim, uid });
  }
  for (const [kind, list] of /** @type {[string, {t: number, seq: number}[]][]} */ ([["stop", lane.stops], ["ignored", lane.refused]])) {
    if (scene.off.has(kind)) continue;
    let last = -Infinity;
    for (let i = lowerBound(list, scene.from); i < list.length && list[i].t <= scene.to; i += 1) {
      const cell = Math.floor(list[i].t / size);
      if (cell === last) continue;
      last = cell;
      const x = px(cell * size);
      out[LAYER.said].push({ k: "bin", c: "said", x, x2: x + BIN_PX, y: top + h * 0.22, h: 2, seq: list[i].seq, dim, uid });
    }
  }
}

/** @typedef {{scene: Scene, lane: Lane, out: Item[][], px: (t: number) => number, dim: boolean, top: number, h: number, g: ReturnType<typeof geometry>, uid: string}} At */

/** The pod cache's view: a line while something runs, dots while nothing does. @param {At} at */
function running({ scene, lane, out, px, dim, top, g, uid }) {
  if (scene.off.has("running")) return;
  const begin = Math.max(scene.from, lane.seenT, scene.store.truncated ? scene.store.firstT : 0);
  const end = lane.goneT ?? Infinity;
  const quiet = lane.lastT < scene.quietFrom;
  const y = top + g.found;
  const { cached } = lane;
  const draw = (/** @type {number} */ a, /** @type {number} */ b, /** @type {boolean} */ solid) => {
    const left = Math.max(a, begin);
    const right = Math.min(b, end);
    if (right <= left || left > scene.to) return;
    out[LAYER.run].push({ k: solid ? "run" : "dots", x: px(left), x2: right === Infinity ? Infinity : px(Math.min(right, scene.to)), y, dim: dim || quiet, uid });
  };
  // As far as nothing changes that can be seen it is one line: what is shorter than a pixel belongs to what was before.
  const least = 1 / scene.scale;
  const first = Math.max(0, lowerBound(cached, begin) - 1);
  let from = begin;
  /** @type {boolean|null} */
  let solid = first === 0 && cached.length ? cached[0].before : null;
  for (let i = first; i < cached.length && cached[i].t <= scene.to; i += 1) {
    const runs = cached[i].running > 0;
    const next = cached[i + 1]?.t ?? Infinity;
    if (runs === solid || (solid !== null && i > first && next - cached[i].t < least)) continue;
    if (solid !== null) draw(from, cached[i].t, solid);
    from = cached[i].t;
    solid = runs;
  }
  if (solid !== null) draw(from, Infinity, solid);
}

/** @param {At} at */
function syncs({ scene, lane, out, px, dim, top, h, uid }) {
  if (scene.off.has("sync")) return;
  const last = lane.syncs[lane.syncs.length - 1];
  for (let i = firstWithin(lane.syncs, scene.from, lane.longest.syncs, last?.to === null ? last : null, "from"); i < lane.syncs.length; i += 1) {
    const { from, to, seq } = lane.syncs[i];
    if (from > scene.to) break;
    if (to !== null && to < scene.from) continue;
    const x = px(from);
    const x2 = to === null ? Infinity : Math.max(x + 1, px(to));
    // The word would lie under the marks of requests that were held.
    const busy = h < 60 && lane.asks.some((ask) => ask.t >= from && ask.t <= (to ?? Infinity));
    out[LAYER.sync].push({ k: "sync", x, x2, y: top + 1, h: h - 2, seq, dim, uid, text: h >= 18 && !busy && x2 - x > 62 * scene.em ? "SyncPod" : "" });
  }
}

/** Amber: from the stop to the finding, or to the present. @param {At} at */
function tails({ scene, lane, out, px, dim, top, g, uid }) {
  if (scene.off.has("tail")) return;
  const y = top + g.found;
  for (let i = lowerBound(lane.finds, scene.from); i < lane.finds.length; i += 1) {
    const { from, t, seq } = lane.finds[i];
    if (t - lane.longest.finds > scene.to) break;
    if (from === null || from > scene.to || t <= from) continue;
    out[LAYER.tail].push({ k: "tail", x: px(from), x2: px(t), y, s: 3, seq, dim, uid });
  }
  unnoticed({ scene, lane, out, px, dim, top, g, uid, h: 0 });
}

/** Not found until now. @param {At} at */
function unnoticed({ scene, lane, out, px, dim, top, g, uid }) {
  if (scene.off.has("tail")) return;
  const y = top + g.found;
  for (let i = lane.stops.length - 1; i >= 0; i -= 1) {
    const stop = lane.stops[i];
    if (stop.find || stop.moot || stop.t > scene.to) continue;
    if (scene.now - stop.t > 3600e9) break;
    out[LAYER.tail].push({ k: "tail", x: px(stop.t), x2: Infinity, y, s: 3, seq: stop.seq, dim, uid });
  }
}

/** Waiting, held, and how it ended if no relist came of it. @param {At} at */
function asks({ scene, lane, out, px, dim, top, g, uid }) {
  const y = top + g.asked;
  const seen = dedupe();
  const [oldest] = lane.waiting;
  for (let i = firstWithin(lane.asks, scene.from, lane.longest.asks, oldest); i < lane.asks.length; i += 1) {
    const ask = lane.asks[i];
    if (ask.t > scene.to) break;
    const { seq } = ask;
    for (const span of ask.spans) {
      const x = px(span.from);
      const x2 = span.to === null ? Infinity : px(span.to);
      if (x2 < 0) continue;
      if (span.what === "waiting") {
        if (!scene.off.has("wait")) out[LAYER.wait].push({ k: "wait", x, x2, y, s: 8, seq, dim, uid });
      } else if (!scene.off.has("held")) {
        out[LAYER.heldline].push({ k: "heldline", x, x2, y, s: 4, seq, dim, uid });
        if (seen("held", x)) out[LAYER.lost].push({ k: "glyph", c: "held", x, y, s: g.s, seq, dim, uid });
      }
    }
    if (ask.endT === null || ask.endT < scene.from || ask.endT > scene.to) continue;
    const x = px(ask.endT);
    if ((ask.end === "dropped" || ask.end === "coalesced" || ask.end === "skipped") && !scene.off.has(ask.end) && seen(ask.end, x)) {
      out[ask.end === "skipped" ? LAYER.bar : LAYER.lost].push({ k: "glyph", c: ask.end, x, y, s: ask.end === "skipped" ? g.bar : g.s, seq: ask.endSeq ?? seq, dim, uid });
    }
  }
}

/** @param {At} at */
function relists({ scene, lane, out, px, dim, top, g, uid }) {
  const last = lane.relists[lane.relists.length - 1];
  for (let i = firstWithin(lane.relists, scene.from, lane.longest.relists, last?.to === null ? last : null, "from"); i < lane.relists.length; i += 1) {
    const relist = lane.relists[i];
    if (relist.from > scene.to) break;
    const own = relist.source !== "evented_pleg";
    if (scene.off.has(own ? "own" : "relist")) continue;
    const x = px(relist.from);
    const x2 = relist.to === null ? Infinity : Math.max(x + 3, px(relist.to));
    if (x2 < 0) continue;
    out[LAYER.bar].push({ k: own ? "own" : "relist", x, x2, y: top + g.asked - g.bar / 2, h: g.bar, seq: relist.seq, dim, uid });
  }
}

/** A death lies above what its container's end brings with it. @param {At} at */
function finds({ scene, lane, out, px, dim, top, g, uid }) {
  const seen = dedupe();
  const y = top + g.found;
  /** @type {Item[]} */
  const deaths = [];
  for (let i = lowerBound(lane.finds, scene.from); i < lane.finds.length; i += 1) {
    const { t, rec, seq, fan } = lane.finds[i];
    if (t > scene.to) break;
    if (scene.off.has(foundHow(rec))) continue;
    const s = rec.is_sandbox ? g.s * 0.72 : g.s;
    const x = px(t) + fan * g.s * 0.95;
    const c = findGlyph(rec);
    if (!seen(`${c}${rec.is_sandbox}`, x)) continue;
    // What the first relist finds is the beginning, not a change.
    const item = { k: "glyph", c, x, y, s, seq, dim: dim || rec.baseline === true, uid, t };
    (rec.type === "ContainerDied" ? deaths : out[LAYER.found]).push(item);
    if (rec.delivery === "discarded") out[LAYER.lost].push({ k: "glyph", c: "dropped", x, y, s: g.s, seq, dim, uid });
  }
  out[LAYER.found].push(...deaths);
}

/** @param {At} at */
function said({ scene, lane, out, px, dim, top, g, uid }) {
  const seen = dedupe();
  const y = top + g.said;
  if (!scene.off.has("other")) {
    for (let i = lowerBound(lane.ticks, scene.from); i < lane.ticks.length; i += 1) {
      const { t, seq } = lane.ticks[i];
      if (t > scene.to) break;
      const x = px(t);
      if (seen("tick", x)) out[LAYER.said].push({ k: "tick", x, y: y - g.s / 2, h: g.s, seq, dim, uid });
    }
  }
  if (!scene.off.has("ignored")) {
    for (let i = lowerBound(lane.refused, scene.from); i < lane.refused.length && lane.refused[i].t <= scene.to; i += 1) {
      const { t, seq } = lane.refused[i];
      if (seen("refused", px(t))) out[LAYER.lost].push({ k: "glyph", c: "ignored", x: px(t), y, s: g.s, seq, dim, uid, t });
    }
  }
  if (scene.off.has("stop")) return;
  for (let i = lowerBound(lane.stops, scene.from); i < lane.stops.length; i += 1) {
    const { t, rec, seq } = lane.stops[i];
    if (t > scene.to) break;
    const x = px(t);
    const s = rec.is_sandbox ? g.s * 0.72 : g.s;
    if (seen(`stop${rec.is_sandbox}`, x)) out[LAYER.said].push({ k: "glyph", c: "stop", x, y, s, seq, dim, uid, t });
  }
}

/** Whether a mark of this kind is the first one at its pixel. @returns {(kind: string, x: number) => boolean} */
function dedupe() {
  /** @type {Map<string, number>} */
  const last = new Map();
  return (kind, x) => {
    if (Math.abs((last.get(kind) ?? -Infinity) - x) < 0.75) return false;
    last.set(kind, x);
    return true;
  };
}

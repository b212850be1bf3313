// @ts-check
/**
 * One container of a pod that is folded out: what was said of it above what was found of it. Asking
 * is the pod's, so that tier stays in the pod's own lane. The marks are the pod's, drawn once more;
 * the keyboard's cursor knows those in the pod's lane only.
 *
 * @typedef {import("./layout.js").Item} Item
 * @typedef {import("./layout.js").Scene} Scene
 * @typedef {import("./lineup.js").Row} Row
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {{scene: Scene, lane: Lane, name: string, out: Item[][], px: (t: number) => number, dim: boolean, said: number, found: number, s: number}} At
 */
import { lowerBound } from "./lane.js";
import { LAYER } from "./layers.js";
import { findGlyph } from "./story.js";
import { foundHow } from "./words.js";

/** Marks closer than this to the one before of their kind cannot be told from it, px. */
const APART = 0.75;

/**
 * @param {Scene} scene @param {Row} row @param {Lane} lane @param {string} name of the container
 * @param {Item[][]} out @param {(t: number) => number} px @param {boolean} dim
 */
export function layoutPart(scene, row, lane, name, out, px, dim) {
  const top = row.y + scene.label;
  const h = row.h - scene.label;
  const at = { scene, lane, name, out, px, dim, said: top + 0.26 * h, found: top + 0.74 * h, s: Math.min(10 * scene.em, Math.max(6, 0.4 * h)) };
  partRuns(at);
  partTails(at);
  partFinds(at);
  partSaid(at);
}

/** A line while it runs, dots while it does not; nothing while it is not known which ones run. @param {At} at */
function partRuns({ scene, lane, name, out, px, dim, found: y }) {
  if (scene.off.has("running")) return;
  const begin = Math.max(scene.from, lane.seenT, scene.store.truncated ? scene.store.firstT : 0);
  const end = lane.goneT ?? Infinity;
  const { cached } = lane;
  // What was before its first start is nothing, not something that has stopped; unless it is not known.
  let begun = cached.length > 0 && cached[0].before === null;
  for (let i = 0; i < cached.length && cached[i].t <= scene.to; i += 1) {
    const { t, on } = cached[i];
    const runs = on?.includes(name) === true;
    begun ||= runs;
    const left = Math.max(t, begin);
    const right = Math.min(cached[i + 1]?.t ?? Infinity, end);
    if (!on || !begun || right <= left) continue;
    out[LAYER.run].push({ k: runs ? "run" : "dots", x: px(left), x2: right === Infinity ? Infinity : px(Math.min(right, scene.to)), y, dim: dim || lane.lastT < scene.quietFrom });
  }
}

/** @param {At} at @param {import("./types.js").Rec} rec */
const ofPart = (at, rec) => !rec.is_sandbox && rec.container_name === at.name;

/** Amber: how long its end was unnoticed. @param {At} at */
function partTails(at) {
  const { scene, lane, out, px, dim, found: y } = at;
  if (scene.off.has("tail")) return;
  for (let i = lowerBound(lane.finds, scene.from); i < lane.finds.length; i += 1) {
    const { from, t, seq, rec } = lane.finds[i];
    if (t - lane.longest.finds > scene.to) break;
    if (from === null || from > scene.to || t <= from || !ofPart(at, rec)) continue;
    out[LAYER.tail].push({ k: "tail", x: px(from), x2: px(t), y, s: 3, seq, dim });
  }
  for (const stops of lane.open.values()) {
    for (const { t, seq, rec, find, moot } of stops) {
      if (find || moot || t > scene.to || scene.now - t > 3600e9 || !ofPart(at, rec)) continue;
      out[LAYER.tail].push({ k: "tail", x: px(t), x2: Infinity, y, s: 3, seq, dim });
    }
  }
}

/** @param {At} at */
function partFinds(at) {
  const { scene, lane, out, px, dim, found: y, s } = at;
  const fresh = partMarks();
  for (let i = lowerBound(lane.finds, scene.from); i < lane.finds.length && lane.finds[i].t <= scene.to; i += 1) {
    const { t, rec, seq } = lane.finds[i];
    if (!ofPart(at, rec) || scene.off.has(foundHow(rec))) continue;
    const c = findGlyph(rec);
    if (!fresh(c, px(t))) continue;
    out[LAYER.found].push({ k: "glyph", c, x: px(t), y, s, seq, dim: dim || rec.baseline === true, t });
  }
}

/** @param {At} at */
function partSaid(at) {
  const { scene, lane, out, px, dim, said: y, s } = at;
  const fresh = partMarks();
  if (!scene.off.has("other")) {
    for (let i = lowerBound(lane.ticks, scene.from); i < lane.ticks.length && lane.ticks[i].t <= scene.to; i += 1) {
      const { t, rec, seq } = lane.ticks[i];
      if (ofPart(at, rec) && fresh("tick", px(t))) out[LAYER.said].push({ k: "tick", x: px(t), y: y - s / 2, h: s, seq, dim });
    }
  }
  if (scene.off.has("stop")) return;
  for (let i = lowerBound(lane.stops, scene.from); i < lane.stops.length && lane.stops[i].t <= scene.to; i += 1) {
    const { t, rec, seq } = lane.stops[i];
    if (ofPart(at, rec) && fresh("stop", px(t))) out[LAYER.said].push({ k: "glyph", c: "stop", x: px(t), y, s, seq, dim, t });
  }
}

/** Whether a mark of this kind is the first one at its pixel. @returns {(kind: string, x: number) => boolean} */
function partMarks() {
  /** @type {Map<string, number>} */
  const last = new Map();
  return (kind, x) => {
    if (Math.abs((last.get(kind) ?? -Infinity) - x) < APART) return false;
    last.set(kind, x);
    return true;
  };
}

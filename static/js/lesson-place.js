// @ts-check
/**
 * Where the lesson's words go on the timeline. Pure: from times to pixels.
 *
 * @typedef {{from: number, scale: number, width: number}} Axis left edge (ns), px per ns, px
 * @typedef {{t: number, text: string}} Word
 * @typedef {{x: number, left: number, row: number, text: string, off: "before"|"after"|null}} Placed
 *   `x`: where its moment is; `left`: of its box; `row`: 0 is the top one; `off`: out of sight
 */

const GAP = 8;
/** About the width of a letter, px. */
const LETTER = 6.6;
const PADDING = 14;

/** @param {Axis} axis @param {number} t */
export function xOf(axis, t) {
  return (t - axis.from) * axis.scale;
}

/** @param {string} text */
export function widthOf(text) {
  return Math.ceil(text.length * LETTER) + PADDING;
}

/**
 * Boxes that do not cover each other, each as near to its moment as may be.
 * @param {Word[]} words @param {Axis} axis @returns {Placed[]}
 */
export function place(words, axis) {
  /** @type {number[]} Right edge of what stands in each row. */
  const rows = [];
  return [...words].sort((a, b) => a.t - b.t).map((word) => {
    const x = xOf(axis, word.t);
    const width = Math.min(widthOf(word.text), axis.width);
    const left = Math.max(0, Math.min(x + 4, axis.width - width));
    let row = rows.findIndex((right) => right + GAP <= left);
    if (row < 0) row = rows.push(0) - 1;
    rows[row] = left + width;
    return { x, left, row, text: word.text, off: x < 0 ? "before" : x > axis.width ? "after" : null };
  });
}

/**
 * How fast to play so that a stretch takes no longer than somebody likes to wait.
 * @param {number} ns @param {number} seconds @returns {number} times as fast as life
 */
export function rateFor(ns, seconds) {
  return Math.min(100, Math.max(0.1, ns / 1e9 / seconds));
}

/** The nearest moment that may be chosen. @param {number} t @param {{earliest: number, latest: number}} ask @param {number} grain */
export function choosable(t, ask, grain) {
  const steps = Math.round((t - ask.earliest) / grain);
  return Math.max(ask.earliest, Math.min(ask.latest, ask.earliest + steps * grain));
}

/** Lanes are as high as there is room for, so that their three tiers are told apart. @param {number} room px @param {number} lanes */
export function laneHeight(room, lanes) {
  return Math.round(Math.min(112, Math.max(26, (room - 80) / Math.max(1, lanes))));
}

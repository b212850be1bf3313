// @ts-check
/**
 * Where the lesson's words go on the timeline. Pure: from times to pixels.
 *
 * @typedef {{from: number, scale: number, width: number}} Axis left edge (ns), px per ns, px
 * @typedef {{t: number, text: string}} Word
 * @typedef {{x: number, left: number, text: string, off: "before"|"after"|null}} Placed
 *   `x`: where its moment is; `left`: of its box; `off`: out of sight
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
 * Boxes in one line that do not cover each other, each as near to its moment as may be.
 * @param {Word[]} words @param {Axis} axis @returns {Placed[]} in order of time
 */
export function place(words, axis) {
  /** @type {Placed[]} */
  const placed = [...words].sort((a, b) => a.t - b.t).map(({ t, text }) => {
    const x = xOf(axis, t);
    return { x, left: x + 4, text, off: x < 0 ? "before" : x > axis.width ? "after" : null };
  });
  const seen = placed.filter((one) => !one.off);
  let right = -GAP;
  for (const one of seen) {
    one.left = Math.max(one.left, right + GAP);
    right = one.left + widthOf(one.text);
  }
  let end = axis.width;
  for (const one of seen.reverse()) {
    one.left = Math.max(0, Math.min(one.left, end - widthOf(one.text)));
    end = one.left - GAP;
  }
  return placed;
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

/** So low a lane still has its three tiers. */
const LOWEST = 26;
/** So high, a lane has room for words below each of its tiers. */
export const WORDY = 130;

/** Lanes share all the room there is, so that their three tiers are told apart. @param {number} room px @param {number} lanes */
export function laneHeight(room, lanes) {
  return Math.max(LOWEST, Math.floor(room / Math.max(1, lanes)));
}

/**
 * What of the runtime's truth is not seen at a moment, by pod.
 * @typedef {{uid: string, begin: number, to: number, says: string}} Unseen
 * @param {Unseen[]} unseen @param {number} t @param {number} until up to when it is told: what lasts until then goes on
 * @returns {Map<string, string>} in a few words
 */
export function blindAt(unseen, t, until) {
  return new Map(unseen.filter((one) => one.begin <= t && (t < one.to || one.to >= until)).map((one) => [one.uid, unseenWords(one.says)]));
}

/** @param {string} says what the pod cache says meanwhile */
export function unseenWords(says) {
  return says === "runs" ? "ended, not seen" : "runs, not seen";
}

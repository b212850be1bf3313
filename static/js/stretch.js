// @ts-check
/**
 * How a stretch of the event stream's life looks: up, down, or neither.
 *
 * @typedef {import("./store.js").Stretch} Stretch
 */

/** The session's first try may take this long before it counts as down (ns). */
const OPENING = 5e9;

/** The session's first try, which has not failed: nothing was lost yet. @param {Stretch} stretch @param {number} now */
export function isOpening(stretch, now) {
  return stretch.first && stretch.state === "connecting" && stretch.code === null && stretch.tries.length <= 1
    && (stretch.to ?? now) - stretch.from < OPENING;
}

/**
 * "alone": not used, left alone, not there at all, or only just being opened; no fault.
 * @param {Stretch} stretch @param {number} now @returns {"up"|"down"|"alone"}
 */
export function lookOf(stretch, now) {
  if (stretch.state === "connected") return "up";
  const none = stretch.state === "off" || stretch.code === "unimplemented" || stretch.code === "immediate_eof";
  return none || isOpening(stretch, now) ? "alone" : "down";
}

// @ts-check
/** What the pages of lessons say, and what they know of the designs. */

/** What a stream event may do under each design (`app/engine/profiles.py`). @type {Record<string, string>} */
export const PROFILE_HINTS = { kep: "request", generic: "none", polling: "none", "1.37": "request", legacy: "write" };

/**
 * How far somebody is with a lesson, behind the number of its steps.
 * @param {import("./lesson-progress.js").Progress} progress @param {number} steps
 */
export function progressWords(progress, steps) {
  if (progress.done) return "; done";
  return progress.step > 1 ? `; you are at step ${Math.min(progress.step, steps)}` : "";
}

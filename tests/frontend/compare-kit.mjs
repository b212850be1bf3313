/** A comparison made by hand, in milliseconds: two runs, and whatever happened in them. */

export const MS = 1e6;

/** @param {string} pod @param {number} attempt */
export const who = (pod = "web-0", attempt = 0) => ({ namespace: "shop", pod, uid: `uid-${pod}`, container: "main", attempt, nth: 0 });

/** Something that happened at `ms` and was noticed `after` ms later (null: not at all). */
export function seen(ms, after, more = {}) {
  return {
    t: ms * MS, known_t: (ms + 50) * MS, fate: after === null ? "waiting" : "found",
    found_t: after === null ? null : (ms + after) * MS, source: after === null ? null : "global", seq: 7, ...more,
  };
}

/** @param {"start"|"end"} what @param {any[]} each @param {[number, string, string][]} marks */
export function row(what, each, marks = [], whose = who()) {
  return { what, who: whose, seen: each, stretches: [], says: "", marks: marks.map(([run, kind, words]) => ({ run, kind, words })) };
}

/** @param {any[]} stretches @param {[number, string, string][]} marks */
export function wrong(stretches, marks = [], whose = who()) {
  return { what: "overwritten", who: whose, seen: [], stretches, says: "runs", marks: marks.map(([run, kind, words]) => ({ run, kind, words })) };
}

/** @param {any[]} rows */
export function report(rows, { names = ["kep", "generic"], against = 1, duration = 600_000, drawn = {} } = {}) {
  return {
    scenario: "demo", title: "A node", seed: 7, duration_ns: duration * MS, against, sentence: [], meaning: [],
    rows, matched: rows.length, drifted: 0, unmatched: 0, left_out: 0,
    runs: names.map((name) => ({ name, profile: name, title: name, query: `scenario=demo&profile=${name}`, figures: {}, drawn: { pods: [], relists: [], stream: [], ...drawn } })),
  };
}

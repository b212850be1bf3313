// @ts-check
/** What is said about happenings and differences on the page of comparisons. */
import { duration, foundBy, lateBy } from "./words.js";

/** @typedef {import("./compare-model.js").Row} Row @typedef {import("./compare-model.js").Seen} Seen @typedef {import("./compare-model.js").Model} Model */

/** @param {string|null|undefined} source */
export function by(source) {
  return source === "believed" ? "believed event" : foundBy(source);
}

/** What happened, in a few words: "end of main (attempt 2), exit 137". @param {Row} row */
export function happened(row) {
  const { container, attempt } = row.who;
  const which = `${container}${attempt ? ` (attempt ${attempt})` : ""}`;
  if (row.what === "start") return `start of ${which}`;
  if (row.what === "end") {
    const codes = [...new Set(row.seen.flatMap((seen) => (typeof seen?.exit_code === "number" ? [seen.exit_code] : [])))];
    return `end of ${which}${codes.length ? `, exit ${codes.join(" or ")}` : ""}`;
  }
  if (row.what === "told") return `told of ${which} what had not happened`;
  return `cache of ${which}: says that it ${row.says}`;
}

/** How one run had it: "80 ms, hint". @param {Row} row @param {number} run */
export function noticed(row, run) {
  if (row.what === "told" || row.what === "overwritten") {
    const stretch = row.stretches[run];
    if (!stretch) return "right";
    if (row.what === "told") return "told";
    return stretch.until_t === null || stretch.until_t === undefined ? "wrong to the end" : `wrong for ${duration(stretch.until_t - stretch.t)}`;
  }
  const seen = row.seen[run];
  if (!seen) return "did not happen";
  if (typeof seen.found_t !== "number") return seen.fate === "never" ? "missed" : "unseen at the end";
  return `${lateBy(seen.found_t - seen.t)}, ${by(seen.source)}${seen.delivered === false ? ", missed: nobody was told" : ""}`;
}

/** The marks of a row in a sentence, each run by name; those of hidden kinds left out. @param {Model} model @param {Row} row @param {Set<string>} off */
export function differs(model, row, off = new Set()) {
  return row.marks.filter(({ kind }) => !off.has(kind)).map(({ run, words }) => `${model.runs[run].name}: ${words}`).join("; ");
}

/** Everything about a row in one line, for the pointer and for reading aloud. @param {Model} model @param {Row} row */
export function told(model, row) {
  const runs = model.runs.map((run, i) => `${run.name} ${noticed(row, i)}`).join("; ");
  const marks = differs(model, row);
  return `${row.who.pod}, ${happened(row)}: ${runs}.${marks ? ` ${marks[0].toUpperCase()}${marks.slice(1)}.` : " No difference."}`;
}

// @ts-check
/** The chosen difference in full: one row per run, with a link to that run at that moment. */
import { clockOf } from "./compare-model.js";
import { by, happened } from "./compare-words.js";
import { byId, h, setText } from "./dom.js";
import { duration, lateBy } from "./words.js";

/** @typedef {import("./compare-model.js").Model} Model @typedef {import("./compare-model.js").Row} Row */

/** The address of a run's own page, at a moment. @param {string} query @param {number} t ns @param {number|undefined} seq */
export function runLink(query, t, seq) {
  return `/run?${query}&t=${Math.round(t)}${seq ? `&sel=${seq}` : ""}`;
}

/** @param {Model} model @param {number|null} id */
export function showChosen(model, id) {
  const section = byId("chosen");
  section.hidden = id === null;
  if (id === null) return;
  const row = model.rows[id];
  const what = happened(row);
  setText(byId("chosen-title"), `${row.who.namespace}/${row.who.pod}: ${what}`);
  byId("chosen-body").replaceChildren(...model.runs.map((_, run) => line(model, row, run)));
}

/** @param {Model} model @param {Row} row @param {number} run */
function line(model, row, run) {
  const { name, query } = model.runs[run];
  const mark = row.marks.find((each) => each.run === run);
  const cells = row.seen.length ? seenCells(model, row, run) : stretchCells(row, run);
  const each = row.seen[run] ?? row.stretches[run];
  const found = row.seen[run]?.found_t;
  return h("tr", {},
    h("th", { scope: "row" }, name),
    ...cells.map((text) => h("td", {}, text)),
    h("td", {}, mark ? mark.words : run === model.report.against ? "the reference" : "no difference"),
    h("td", {}, each ? h("a", { href: runLink(query, found ?? each.t, each.seq) }, "open this run here") : ""));
}

/** @param {Model} model @param {Row} row @param {number} run */
function seenCells(model, row, run) {
  const seen = row.seen[run];
  if (!seen) return ["did not happen", "", "", "", ""];
  const found = seen.found_t;
  const knew = typeof seen.known_t === "number" ? `${lateBy(seen.known_t - seen.t)}${seen.known_t - seen.t < 1e3 ? "" : " later"}` : "never";
  if (typeof found !== "number") return [clockOf(seen.t, 3), knew, seen.fate === "never" ? "missed" : "unseen at the end", seen.fate === "never" ? "" : `unseen for ${duration(model.end - seen.t)}`, ""];
  return [clockOf(seen.t, 3), knew, clockOf(found, 3), lateBy(found - seen.t), by(seen.source)];
}

/** @param {Row} row @param {number} run */
function stretchCells(row, run) {
  const stretch = row.stretches[run];
  if (!stretch) return ["was right", "", "", "", ""];
  const until = stretch.until_t;
  return [clockOf(stretch.t, 3), "", typeof until === "number" ? `right again at ${clockOf(until, 3)}` : "not right before the end", typeof until === "number" ? duration(until - stretch.t) : "", ""];
}

// @ts-check
/**
 * The address holds what is shown: view, filter, window and selection, so that a link shows the
 * same to someone else. Written with replaceState: the back button leaves the page.
 *
 * @typedef {{
 *   view: "timeline"|"table", filter: string, group: "none"|"namespace", rows: string, span: number,
 *   end: number|null, selected: number|null, off: string[], zone: "utc"|"local"|"since"
 *   sort: import("./lane-order.js").Sort, pins: string[], unfolded: string[], allUnfolded: boolean,
 *   quietFolded: boolean, near: boolean
 * }} Shown `pins`, `unfolded`: pods by their keys (lane-order.js); `near`: only what is near the
 *   selected mark. `span` and `end` in ns; `end` null while the window follows the present
 */
import { readSort } from "./lane-order.js";
import { MOST_KEPT } from "./lineup.js";
import { LONGEST, SHORTEST } from "./view.js";

/** @type {Shown} */
export const DEFAULTS = {
  view: "timeline", filter: "", group: "none", rows: "comfortable", span: 60e9, end: null,
  selected: null, off: [], zone: "utc", sort: "activity", pins: [], unfolded: [], allUnfolded: false,
  quietFolded: false, near: false,
};

/** Longest key of a pod: a namespace and a name. */
const KEY_LENGTH = 400;

/** Keys of pods, as many as a link may hold. @param {string[]} given */
function keys(given) {
  return [...new Set(given.filter((key) => key && key.length <= KEY_LENGTH))].slice(0, MOST_KEPT);
}

/** A number from the address, or the default if it is none or out of range. @param {string|null} text @param {number} low @param {number} high */
function number(text, low, high) {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) && value >= low && value <= high ? value : null;
}

/** @param {string} search @returns {Shown} */
export function readAddress(search) {
  const query = new URLSearchParams(search);
  const rows = query.get("rows") ?? "";
  const span = number(query.get("span"), SHORTEST / 1e9, LONGEST / 1e9);
  const end = number(query.get("end"), 0, 1e9);
  const open = query.getAll("open");
  return {
    sort: readSort(query.get("sort")),
    pins: keys(query.getAll("pin")),
    unfolded: keys(open.filter((key) => key !== "all")),
    allUnfolded: open.includes("all"),
    quietFolded: query.get("quiet") === "folded",
    near: query.get("near") === "1",
    view: query.get("view") === "table" ? "table" : "timeline",
    filter: (query.get("filter") ?? "").slice(0, 200),
    group: query.get("group") === "namespace" ? "namespace" : "none",
    rows: ["compact", "large"].includes(rows) ? rows : DEFAULTS.rows,
    span: span === null ? DEFAULTS.span : span * 1e9,
    end: end === null ? null : end * 1e9,
    selected: number(query.get("select"), 1, Number.MAX_SAFE_INTEGER),
    off: (query.get("hide") ?? "").split(",").filter((kind) => /^[a-z]+$/.test(kind)),
    zone: query.get("zone") === "local" ? "local" : query.get("zone") === "since" ? "since" : "utc",
  };
}

/** What differs from the defaults, as a query. @param {Shown} shown */
export function writeAddress(shown) {
  const query = new URLSearchParams();
  if (shown.view !== DEFAULTS.view) query.set("view", shown.view);
  if (shown.filter) query.set("filter", shown.filter);
  if (shown.group !== DEFAULTS.group) query.set("group", shown.group);
  if (shown.sort !== DEFAULTS.sort) query.set("sort", shown.sort);
  for (const key of shown.pins) query.append("pin", key);
  if (shown.allUnfolded) query.set("open", "all");
  else for (const key of shown.unfolded) query.append("open", key);
  if (shown.quietFolded) query.set("quiet", "folded");
  if (shown.near && shown.selected !== null) query.set("near", "1");
  if (shown.rows !== DEFAULTS.rows) query.set("rows", shown.rows);
  if (Math.abs(shown.span - DEFAULTS.span) > 1e6) query.set("span", String(Number((shown.span / 1e9).toPrecision(4))));
  if (shown.end !== null) query.set("end", (shown.end / 1e9).toFixed(4));
  if (shown.selected !== null) query.set("select", String(shown.selected));
  if (shown.off.length) query.set("hide", [...shown.off].sort().join(","));
  if (shown.zone !== DEFAULTS.zone) query.set("zone", shown.zone);
  const text = query.toString();
  return text ? `?${text}` : "";
}

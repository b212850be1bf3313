// @ts-check
/**
 * A comparison as the page sees it: pods with their happenings, and the differences in order.
 * Alignment and words come from the server (app/stage/compare.py); times are ns of the runs' time.
 *
 * @typedef {"sooner"|"later"|"never"|"wrong"|"absent"} Kind
 * @typedef {{
 *   t: number, known_t?: number|null, found_t?: number|null, fate: "found"|"waiting"|"never",
 *   source?: string|null, seq?: number, relist_t?: number|null, stop_t?: number|null,
 *   delivered?: boolean, exit_code?: number|null, reason?: string
 * }} Seen
 * @typedef {{t: number, until_t?: number|null, seq?: number}} Stretch
 * @typedef {{run: number, kind: Kind, words: string}} Mark
 * @typedef {{namespace: string, pod: string, uid: string, container: string, attempt: number, nth: number}} Who
 * @typedef {{
 *   what: "start"|"end"|"told"|"overwritten", who: Who, seen: (Seen|null)[],
 *   stretches: (Stretch|null)[], says: string, marks: Mark[]
 * }} Row
 * @typedef {{uid: string, namespace: string, pod: string, running: [number, number][], gone_t: number|null}} PodLine
 * @typedef {{
 *   name: string, profile: string, title: string, query: string, figures: any,
 *   drawn: {pods: PodLine[], relists: [number, number][], stream: [number, string][]}
 * }} Run
 * @typedef {{
 *   scenario: string, title: string, seed: number, duration_ns: number, premise: string, runs: Run[], against: number,
 *   sentence: [string, boolean][], meaning: [string, boolean][], notes: [string, boolean][], rows: Row[], matched: number,
 *   drifted: number, unmatched: number, left_out: number
 * }} Report
 *
 * @typedef {{id: number, row: Row, t: number, kinds: Kind[]}} Difference `id`: the row's number
 * @typedef {{
 *   uid: string, name: string, namespace: string, ids: number[], firstT: number,
 *   lines: (PodLine|null)[]
 * }} Pod `ids`: numbers of its rows, in order of time; `lines`: what each run's cache said of it
 */

/** Marks drawn a little before the first difference, as a share of the window. */
const LEAD = 0.1;

/** @type {{id: Kind, name: string, line: string}[]} */
export const KINDS = [
  { id: "sooner", name: "sooner", line: "Noticed sooner than in the reference, by 10 ms or more." },
  { id: "later", name: "later", line: "Noticed later than in the reference, by 10 ms or more." },
  { id: "never", name: "missed or unseen", line: "Another run noticed it. This one missed it for good, or it was unseen at the end." },
  { id: "wrong", name: "wrong", line: "Something was told or cached that was not so." },
  { id: "absent", name: "not in every run", line: "It has no counterpart: the pods’ workers acted at other times. Nothing is compared." },
];

export class Model {
  /** @param {Report} report */
  constructor(report) {
    this.report = report;
    this.runs = report.runs;
    this.rows = report.rows;
    this.end = report.duration_ns;
    /** @type {Difference[]} */
    this.differences = [];
    report.rows.forEach((row, id) => {
      if (!row.marks.length) return;
      this.differences.push({ id, row, t: momentOf(row, report.against), kinds: [...new Set(row.marks.map((mark) => mark.kind))] });
    });
    this.differences.sort((a, b) => a.t - b.t || a.id - b.id);
    this.pods = podsOf(report);
  }

  /** How many differences there are of each kind. @returns {Record<Kind, number>} */
  counts() {
    const counts = { sooner: 0, later: 0, never: 0, wrong: 0, absent: 0 };
    for (const { kinds } of this.differences) for (const kind of kinds) counts[kind] += 1;
    return counts;
  }

  /** Those of which a kind is shown, of pods that the filter admits. @param {Set<string>} off @param {string} filter */
  shown(off, filter) {
    return this.differences.filter(({ kinds, row }) => kinds.some((kind) => !off.has(kind)) && admits(row.who, filter));
  }

  /**
   * Pods with a shown difference, in order of their first one; all pods with a happening if `all`
   * is wished or nothing differs anywhere.
   * @param {Set<string>} off @param {string} filter @param {boolean} all @returns {Pod[]}
   */
  lanes(off, filter, all) {
    /** @type {Map<string, number>} */
    const first = new Map();
    for (const { row, t } of this.shown(off, filter)) first.set(row.who.uid, Math.min(t, first.get(row.who.uid) ?? Infinity));
    const whole = all || this.differences.length === 0;
    const pods = this.pods.filter((pod) => (first.has(pod.uid) || whole) && admits({ ...pod, pod: pod.name }, filter));
    const at = (/** @type {Pod} */ pod) => first.get(pod.uid) ?? Infinity;
    return pods.sort((a, b) => at(a) - at(b) || a.firstT - b.firstT || (a.name < b.name ? -1 : 1));
  }

  /**
   * The difference after (or before) a time; or after the selected one, which may be of the same
   * time. Null when there is no other.
   * @param {Difference[]} among @param {number} t @param {number|null} selected @param {1|-1} direction
   */
  next(among, t, selected, direction) {
    const here = among.findIndex(({ id }) => id === selected);
    if (here >= 0) return among[here + direction] ?? null;
    if (direction > 0) return among.find((each) => each.t >= t) ?? null;
    return [...among].reverse().find((each) => each.t < t) ?? null;
  }

  /**
   * Where the window is opened: as the address says, else a little before the first difference.
   * @param {{from: number|null, span: number|null}} shown @returns {[number, number]} from, to
   */
  opening({ from, span }) {
    if (from !== null && span !== null) return [from, from + span];
    const wide = span ?? Math.min(this.end, 30e9);
    const moment = from ?? this.differences[0]?.t ?? 0;
    const left = Math.max(0, Math.min(moment - wide * (from === null ? LEAD : 0.3), this.end - wide));
    return [left, left + wide];
  }
}

/**
 * The time of a difference: of the run that is marked if it happened there, else of the reference,
 * else of whichever run had it first.
 * @param {Row} row @param {number} against
 */
export function momentOf(row, against) {
  const each = row.seen.length ? row.seen : row.stretches;
  const marked = row.marks.map((mark) => each[mark.run]).find(Boolean) ?? each[against] ?? each.find(Boolean);
  return /** @type {Seen|Stretch} */ (marked).t;
}

/** Whether a container's pod has each word of the filter. @param {{namespace: string, pod: string, uid: string}} who @param {string} filter */
export function admits(who, filter) {
  if (!filter) return true;
  const text = `${who.namespace}/${who.pod} ${who.uid}`.toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** @param {Report} report @returns {Pod[]} */
function podsOf(report) {
  /** @type {Map<string, Pod>} */
  const pods = new Map();
  const lines = report.runs.map((run) => new Map(run.drawn.pods.map((line) => [line.uid, line])));
  report.rows.forEach(({ who, seen, stretches }, id) => {
    let pod = pods.get(who.uid);
    if (!pod) {
      pod = { uid: who.uid, name: who.pod || who.uid, namespace: who.namespace, ids: [], firstT: Infinity, lines: lines.map((each) => each.get(who.uid) ?? null) };
      pods.set(who.uid, pod);
    }
    pod.ids.push(id);
    for (const each of seen.length ? seen : stretches) if (each) pod.firstT = Math.min(pod.firstT, each.t);
  });
  return [...pods.values()];
}

/**
 * How one run noticed something: its glyph on lanes and in rows.
 * @param {"start"|"end"} what @param {Seen} seen
 */
export function glyphOf(what, seen) {
  if (seen.found_t === undefined || seen.found_t === null) return "never";
  const how = seen.source === "global" ? "poll" : seen.source === "believed" ? "event" : "req";
  return `${what === "end" ? "died" : "started"}-${how}`;
}

/**
 * What the address says of the page. `t` (ns): the window's left edge; without a `span` it is a moment
 * to be seen, as in a link from a run's own page.
 */
/** @typedef {{span: number|null, from: number|null, selected: number|null, off: string[], view: "timeline"|"table", filter: string, all: boolean}} Shown */

/** A number of the address, or null if it is none or out of range. @param {string|null} text @param {number} low @param {number} high */
function number(text, low, high) {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) && value >= low && value <= high ? value : null;
}

const OWN = ["t", "span", "sel", "hide", "view", "filter", "all"];

/** @param {string} search @returns {Shown} */
export function readShown(search) {
  const query = new URLSearchParams(search);
  const span = number(query.get("span"), 0.002, 7200);
  return {
    from: number(query.get("t"), -7200e9, 7200e9), span: span === null ? null : span * 1e9,
    selected: number(query.get("sel"), 0, 1e6),
    off: (query.get("hide") ?? "").split(",").filter((kind) => KINDS.some(({ id }) => id === kind)),
    view: query.get("view") === "table" ? "table" : "timeline",
    filter: (query.get("filter") ?? "").slice(0, 200), all: query.has("all"),
  };
}

/** The runs stay as they stand in the address; what is shown of them follows. @param {string} search @param {Shown} shown */
export function writeShown(search, shown) {
  const query = new URLSearchParams(search);
  for (const key of OWN) query.delete(key);
  if (shown.from !== null) query.set("t", String(Math.round(shown.from)));
  if (shown.span !== null) query.set("span", String(Number((shown.span / 1e9).toPrecision(4))));
  if (shown.selected !== null) query.set("sel", String(shown.selected));
  if (shown.off.length) query.set("hide", [...shown.off].sort().join(","));
  if (shown.view === "table") query.set("view", "table");
  if (shown.filter) query.set("filter", shown.filter);
  if (shown.all) query.set("all", "1");
  return `?${query.toString().replaceAll("%21", "!").replaceAll("%2F", "/")}`;
}

/** The runs' part of the address, for the API. @param {string} search */
export function askedOf(search) {
  const query = new URLSearchParams(search);
  for (const key of [...OWN, "plain"]) query.delete(key);
  return query.toString();
}

/** A time of the runs: "1:05", "1:05.120". @param {number} t ns @param {number} digits of the second */
export function clockOf(t, digits = 0) {
  const unit = 10 ** digits;
  const whole = Math.round((Math.abs(t) / 1e9) * unit);
  const minutes = Math.floor(whole / (60 * unit));
  const rest = (whole % (60 * unit)) / unit;
  return `${t < 0 ? "−" : ""}${minutes}:${rest.toFixed(digits).padStart(digits ? digits + 3 : 2, "0")}`;
}

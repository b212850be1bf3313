// @ts-check
/**
 * The link of a run page: everything it follows from, where the cursor is, what is selected, and the
 * other branches of its history. Whoever opens it sees the same. Pure functions over text.
 *
 * `t`: the cursor (ns; in words, such as `65s`, too). `at`: how many records have happened, only when some at that very time have
 * not. `sel`: the selected record. `branch`: the query of another branch's run, once for each.
 */

/** What a run follows from, as app/stage/spec.py writes it; everything else is about the page. */
const SPEC = ["scenario", "seed", "profile", "runtime", "duration", "press"];
/** About the page, but not of the node page's address. */
const OWN = ["t", "at", "sel", "branch"];
/** Branches that a link holds at most: addresses must not grow for ever. */
export const MOST_BRANCHES = 8;

/** @typedef {{t: number|null, seq: number|null, selected: number|null, branches: string[]}} Place */

/** @param {string|null} text @param {number} most */
function whole(text, most) {
  if (text === null || !/^\d{1,16}$/.test(text)) return null;
  const value = Number(text);
  return value <= most ? value : null;
}

/** A time of a link: ns, or in words, such as `65s`. @param {string|null} text @param {number} most */
export function readTime(text, most) {
  const exact = whole(text, most);
  if (exact !== null || text === null || !/[a-z:]/.test(text)) return exact;
  const told = parseTime(text);
  return told !== null && told <= most ? told : null;
}

/** Where a link leads to. @param {string} query @returns {Place} */
export function readPlace(query) {
  const given = new URLSearchParams(query);
  const branches = given.getAll("branch").filter((one) => one.length <= 4000 && one.includes("scenario="));
  return {
    t: readTime(given.get("t"), 3600e9),
    seq: whole(given.get("at"), 1e7),
    selected: whole(given.get("sel"), 1e7),
    branches: [...new Set(branches)].slice(0, MOST_BRANCHES),
  };
}

/** For the node page: what is about it, by its own names. @param {string} query */
export function pageQuery(query) {
  const given = new URLSearchParams(query);
  const selected = readPlace(query).selected;
  for (const name of [...SPEC, ...OWN, "select"]) given.delete(name);
  if (selected !== null) given.set("select", String(selected));
  return `?${given}`;
}

/** A query for people to read: what means nothing in one is left as it is. @param {URLSearchParams} query */
function readable(query) {
  return query.toString().replaceAll("%21", "!").replaceAll("%2F", "/");
}

/**
 * The whole query. @param {string} run the run's own @param {Place} place
 * @param {string} [page] the node page's, as it writes it
 */
export function writeLink(run, place, page = "") {
  const rest = new URLSearchParams(page);
  rest.delete("select");
  const own = new URLSearchParams();
  if (place.t !== null) own.set("t", String(Math.round(place.t)));
  if (place.seq !== null) own.set("at", String(place.seq));
  if (place.selected !== null) own.set("sel", String(place.selected));
  const branches = new URLSearchParams();
  for (const branch of place.branches.slice(0, MOST_BRANCHES)) branches.append("branch", branch);
  return [run, readable(own), readable(rest), readable(branches)].filter(Boolean).join("&");
}

/** @param {number} ns as in a link, exact: `12.5s` */
export function inSeconds(ns) {
  const text = String(Math.round(ns)).padStart(10, "0");
  const rest = text.slice(-9).replace(/0+$/, "");
  return `${text.slice(0, -9)}${rest ? `.${rest}` : ""}s`;
}

/** One press more. The server puts them in order. @param {string} run @param {{t: number, name: string, target: string}} press */
export function withPress(run, press) {
  return `${run}&press=${inSeconds(press.t)}!${press.name}${press.target ? `!${encodeURIComponent(press.target).replaceAll("%2F", "/")}` : ""}`;
}

/** The same under another profile. @param {string} run @param {string} profile */
export function withProfile(run, profile) {
  return run.replace(/(^|&)profile=[^&]*/, `$1profile=${encodeURIComponent(profile)}`);
}

/** The presses of a run, as they stand in its query. @param {string} run @returns {{t: number, name: string, target: string}[]} */
export function pressesOf(run) {
  return new URLSearchParams(run).getAll("press").map((text) => {
    const [when, name = "", target = ""] = text.split("!");
    return { t: (parseTime(when) ?? 0), name, target };
  });
}

/** What a branch is called: what tells it from the run as it comes. @param {string} run @param {string} current the run it is listed beside @param {(name: string) => string} [called] what a press is called @returns {string} */
export function branchName(run, current, called = (name) => name) {
  const given = new URLSearchParams(run);
  const here = new URLSearchParams(current);
  const differs = ["scenario", "seed", "profile", "runtime", "duration"]
    .filter((name) => (given.get(name) ?? "") !== (here.get(name) ?? ""))
    .map((name) => `${name} ${given.get(name) ?? "its own"}`);
  const presses = pressesOf(run).map((press) => `${called(press.name)}${press.target ? ` ${press.target}` : ""} at ${runTime(press.t)}`);
  const told = presses.length > 2 ? [`${presses.length - 1} presses`, presses[presses.length - 1]] : presses;
  return [...(told.length ? told : ["nothing pressed"]), ...differs].join(", ");
}

/** The address of a comparison. @param {string[]} runs @param {number} t ns */
export function compareLink(runs, t) {
  const query = new URLSearchParams();
  for (const run of runs) query.append("run", run);
  query.set("t", String(Math.round(t)));
  return `/compare?${query}`;
}

/** A time that somebody typed: `12.5`, `12.5s`, `1m30s`, `2:05.5`. @param {string} text @returns {number|null} ns */
export function parseTime(text) {
  const given = text.trim().replaceAll(/\s+/g, "");
  const clock = /^(\d{1,3}):(\d{1,2}(?:\.\d{1,9})?)$/.exec(given);
  if (clock) return Math.round((Number(clock[1]) * 60 + Number(clock[2])) * 1e9);
  const parts = /^(?:(\d{1,4})d)?(?:(\d{1,2})h)?(?:(\d{1,3})m(?:in)?)?(?:(\d{1,9}(?:\.\d{1,9})?)s?)?$/.exec(given);
  if (!parts || !given) return null;
  return Math.round((Number(parts[1] ?? 0) * 86_400 + Number(parts[2] ?? 0) * 3600 + Number(parts[3] ?? 0) * 60 + Number(parts[4] ?? 0)) * 1e9);
}

/**
 * Where to go to, as somebody typed it: a time (see `parseTime`), so much on or back (`+1m05s`,
 * `-10s`), or a time of day (`14:32:40`, `2026-11-29 14:32:40.5`).
 * @param {string} text @param {{t: number, wall: number, utc: boolean}} here the cursor, its wall time (both ns), and what times of day mean
 * @returns {number|null} ns
 */
export function parseMoment(text, here) {
  const given = text.trim();
  const signed = /^([+\-\u2212])\s*(.+)$/.exec(given);
  if (signed) {
    const by = parseTime(signed[2]);
    return by === null ? null : Math.max(0, here.t + (signed[1] === "+" ? by : -by));
  }
  const day = /^(?:(\d{4})-(\d\d)-(\d\d)[T ]\s*)?(\d{1,2}):(\d\d):(\d\d)(\.\d{1,9})?\s*(?:Z|UTC)?$/i.exec(given);
  if (!day) return parseTime(given);
  const [hour, minute, second] = [day[4], day[5], day[6]].map(Number);
  if (hour > 23 || minute > 59 || second > 59) return null;
  const utc = here.utc || /(Z|UTC)$/i.test(given);
  const moment = new Date(here.wall / 1e6);
  if (day[1]) {
    const [year, month, date] = [Number(day[1]), Number(day[2]) - 1, Number(day[3])];
    if (utc) moment.setUTCFullYear(year, month, date);
    else moment.setFullYear(year, month, date);
  }
  if (utc) moment.setUTCHours(hour, minute, second, 0);
  else moment.setHours(hour, minute, second, 0);
  const t = here.t + (moment.getTime() * 1e6 - here.wall) + Math.round(Number(day[7] ?? 0) * 1e9);
  return Number.isFinite(t) ? Math.max(0, t) : null;
}

/** A time in a run, to the millisecond: `12.345 s`, `2 min 5.120 s`, `46 d 6 h 1 min 25.823 s`. @param {number} ns */
export function runTime(ns) {
  const ms = Math.floor(ns / 1e6);
  const minutes = Math.floor(ms / 60_000);
  const seconds = ((ms % 60_000) / 1000).toFixed(3);
  if (minutes < 60) return minutes ? `${minutes}\u00a0min ${seconds}\u00a0s` : `${seconds}\u00a0s`;
  const hours = Math.floor(minutes / 60);
  const days = hours < 24 ? "" : `${Math.floor(hours / 24)}\u00a0d `;
  return `${days}${hours % 24}\u00a0h ${minutes % 60}\u00a0min ${seconds}\u00a0s`;
}

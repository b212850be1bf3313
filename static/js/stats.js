// @ts-check
/**
 * What the last minute adds up to, by how it was found.
 *
 * @typedef {import("./store.js").Store} Store
 * @typedef {{n: number, median: number|null, values: number[]}} Group latencies in ns
 */
import { lowerBound } from "./lane.js";
import { foundHow, median, quantile } from "./words.js";

const MINUTE = 60e9;
/** A relist in progress counts from so long on, ns. */
const AT_WORK = 1e9;
/** Global relists below which nothing is called usual. */
const USUAL_LEAST = 5;
/** What was usual when it was last asked for. @type {WeakMap<Store, {key: string, usual: Usual|null}>} */
const kept = new WeakMap();

/**
 * Whether a finding tells of a container that stopped while watched: not one that had exited long
 * before it was first listed. @param {import("./types.js").Rec} rec
 */
export function isStop(rec) {
  if (rec.type !== "ContainerDied" || rec.is_sandbox || rec.baseline || rec.delivery === "filtered") return false;
  if (rec.old_state !== "non-existent") return true;
  return typeof rec.after_ns === "number" || (rec.since_finished_ns ?? Infinity) < MINUTE;
}

/** The same of a finding: a death that was told twice is one. @param {import("./lane.js").Find} find */
export function isNewStop(find) {
  return !find.again && isStop(find.rec);
}

/** How long a death was unnoticed, by the stop event or else by the runtime's time. @param {import("./types.js").Rec} rec */
export function lateness(rec) {
  if (typeof rec.after_ns === "number") return rec.after_ns;
  if (typeof rec.since_finished_ns === "number" && rec.since_finished_ns >= 0) return rec.since_finished_ns;
  return null;
}

/**
 * Stops of the last `span` ns. `hint`: found by a hint's relist; `held`: the same, but held until
 * a sync ended; `own`: by a relist after a sync or resize; `poll`: only by the global relist;
 * `event`: an event was believed.
 * @param {Store} store @param {number} now
 */
export function stops(store, now, span = MINUTE) {
  /** @typedef {"hint"|"held"|"own"|"poll"|"event"} How */
  /** @type {Record<How, number[]>} */
  const values = { hint: [], held: [], own: [], poll: [], event: [] };
  /** @type {Record<How, number>} */
  const n = { hint: 0, held: 0, own: 0, poll: 0, event: 0 };
  for (let i = lowerBound(store.finds, now - span); i < store.finds.length; i += 1) {
    const { rec } = store.finds[i];
    if (!isNewStop(store.finds[i])) continue;
    const ask = typeof rec.request === "number" ? store.asks.get(rec.request) : undefined;
    const held = ask?.spans.some((each) => each.what === "held") ?? false;
    const how = foundHow(rec) === "event" ? "event" : rec.source === "global" ? "poll" : rec.source !== "evented_pleg" ? "own" : held ? "held" : "hint";
    n[how] += 1;
    const late = lateness(rec);
    if (late !== null) values[how].push(late);
  }
  const group = (/** @type {How} */ how) => ({ n: n[how], median: median(values[how]), values: values[how] });
  return {
    total: n.hint + n.held + n.own + n.poll + n.event,
    event: group("event"), hint: group("hint"), held: group("held"), own: group("own"), poll: group("poll"),
  };
}

/**
 * Stop or start to noticed, by relist source: a value per finding (ns), null where it is not known.
 * The stops are those that `stops` counts; `hint` are its hint and held.
 * @param {Store} store @param {number} now
 */
export function noticed(store, now, span = MINUTE) {
  /** @type {Record<"hint"|"sync"|"poll", {value: number|null, open: boolean}[]>} */
  const rows = { hint: [], sync: [], poll: [] };
  for (let i = lowerBound(store.finds, now - span); i < store.finds.length; i += 1) {
    const { rec, t } = store.finds[i];
    let value = null;
    if (isNewStop(store.finds[i])) value = lateness(rec);
    else if (rec.type === "ContainerStarted" && !rec.is_sandbox && !rec.baseline) {
      const started = store.startedAt.get(rec.container_id ?? "");
      if (started === undefined || started > t) continue;
      value = t - started;
    } else continue;
    const row = rec.source === "global" ? "poll" : rec.source === "evented_pleg" ? "hint" : "sync";
    rows[row].push({ value, open: rec.type === "ContainerStarted" });
  }
  return rows;
}

/** How many stop events came after `since`, late ones of an earlier time not counted. @param {Store} store @param {number} since */
export function told(store, since) {
  let n = 0;
  for (let i = lowerBound(store.records, since); i < store.records.length; i += 1) {
    const rec = store.records[i];
    if (rec.kind === "stream_event" && rec.type === "stopped" && !rec.backlog) n += 1;
  }
  return n;
}

/**
 * This node's usual: of the global relists known here that came back, the middle, and between what
 * nine of ten of each side lie. `since`: when the oldest began.
 * @typedef {{low: number, middle: number, high: number, longest: number, count: number, since: number, span: number}} Usual all in ns but `count`
 * @param {Store} store @returns {Usual|null} null below USUAL_LEAST
 */
export function usual(store) {
  const { globals } = store;
  const last = globals.at(-1);
  const key = `${globals.length}|${globals[0]?.id}|${last?.id}|${last?.to}`;
  const known = kept.get(store);
  if (known?.key === key) return known.usual;
  const done = globals.filter(({ done, ok }) => done && ok && typeof done.duration_ns === "number");
  const values = done.map(({ done }) => /** @type {number} */ (done?.duration_ns));
  const middle = quantile(values, 0.5) ?? 0;
  const found = values.length < USUAL_LEAST ? null : {
    low: quantile(values, 0.1) ?? 0, middle, high: quantile(values, 0.9) ?? 0, longest: quantile(values, 1) ?? 0, count: values.length,
    since: done[0].from, span: /** @type {number} */ (done[done.length - 1].to) - done[0].from,
  };
  kept.set(store, { key, usual: found });
  return found;
}

/**
 * The relist that the state tells of, in middles; null: it failed or is not over, or none is usual.
 * Its figure stands beside: a newer one may be known here already, and is another.
 * @param {import("./types.js").SessionState["engine"]["last_global"]|undefined} last @param {Usual|null} usual
 */
export function timesUsual(last, usual) {
  return !usual?.middle || !last || last.ok === false || last.duration_ns === null ? null : last.duration_ns / usual.middle;
}

/** A number of times in two digits: "0.6", "3.0", "60". @param {number} times */
export function timesWords(times) {
  return `${times < 9.95 ? times.toFixed(1) : Math.round(times).toLocaleString("en-US")}×`;
}

/**
 * Global relists and how many containers each listed, side by side, in so many columns of time.
 * A column has its longest relist, one that has not come back counted up to now, and the newest
 * count; null where there is none.
 * @typedef {{took: number|null, open: boolean, failed: boolean, containers: number|null}} Column
 * @param {Store} store @param {number} now @param {number} columns
 * @returns {{from: number, to: number, columns: Column[]}|null} null when there was no relist
 */
export function trend(store, now, columns) {
  const { globals } = store;
  if (!globals.length) return null;
  // One that hangs may have begun before those that the page was told of.
  const from = globals.reduce((first, each) => Math.min(first, each.from), Infinity);
  const to = Math.max(now, from + 1);
  /** @type {Column[]} */
  const found = Array.from({ length: columns }, () => ({ took: null, open: false, failed: false, containers: null }));
  for (const each of globals) {
    const column = found[Math.min(columns - 1, Math.floor(((each.from - from) / (to - from)) * columns))];
    const took = (each.to ?? now) - each.from;
    // One that has just begun says nothing yet.
    if (each.to === null && took < AT_WORK) continue;
    if (took >= (column.took ?? 0)) {
      column.took = took;
      column.open = each.to === null;
    }
    if (each.ok === false) column.failed = true;
    else if (each.done) column.containers = each.done.containers ?? column.containers;
  }
  return { from, to, columns: found };
}

/**
 * The slowest call to the runtime that relists made in the last `span` ns and that came back.
 * @param {Store} store @param {number} now @returns {{method: string, ns: number, uid: string}|null}
 */
export function slowestCall(store, now, span = MINUTE) {
  let worst = null;
  for (let i = lowerBound(store.records, now - span); i < store.records.length; i += 1) {
    const rec = store.records[i];
    if (rec.kind !== "relist_finished" || !rec.slowest_method) continue;
    if (!worst || (rec.slowest_ns ?? 0) > worst.ns) worst = { method: rec.slowest_method, ns: rec.slowest_ns ?? 0, uid: rec.slowest_uid ?? "" };
  }
  return worst;
}

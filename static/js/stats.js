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
/** Global relists that make "this node's usual". */
const USUAL_COUNT = 300;

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

/** Durations of the newest global relists that ended: low and high of the usual, and the middle. @param {Store} store */
export function usual(store) {
  const values = [];
  for (let i = store.globals.length - 1; i >= 0 && values.length < USUAL_COUNT; i -= 1) {
    const { done, ok } = store.globals[i];
    if (done && ok && typeof done.duration_ns === "number") values.push(done.duration_ns);
  }
  if (values.length < 5) return null;
  return {
    low: quantile(values, 0.1) ?? 0, middle: quantile(values, 0.5) ?? 0, high: quantile(values, 0.9) ?? 0,
  };
}

// @ts-check
/**
 * In which order lanes stand, which of them are quiet, and by what name a link remembers one.
 *
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {"activity"|"name"|"restarts"|"slowest"} Sort
 */
import { lowerBound } from "./lane.js";

/** Each way to sort, as the page names it. @type {{id: Sort, name: string}[]} */
export const SORTS = [
  { id: "activity", name: "latest activity" },
  { id: "name", name: "name" },
  { id: "restarts", name: "restarts" },
  { id: "slowest", name: "slowest detection" },
];

/** web-2 before web-10. */
const NAMES = new Intl.Collator("en", { numeric: true });

/** @param {string|null} text @returns {Sort} */
export function readSort(text) {
  return SORTS.find(({ id }) => id === text)?.id ?? "activity";
}

/** What a link calls a pod: its name, which outlives its UID; a pod without one by its UID. @param {Lane} lane */
export function laneKey(lane) {
  return lane.name.trim() ? `${lane.namespace}/${lane.name}` : lane.uid;
}

/** When anything happened in a lane last before `t`; before all others if nothing did. @param {Lane} lane @param {number} t */
export function activityBefore(lane, t) {
  const last = (/** @type {any[]} */ items, key = "t") => items[lowerBound(items, t, key) - 1]?.[key] ?? -1;
  return Math.max(
    last(lane.stops), last(lane.ticks), last(lane.asks), last(lane.finds), last(lane.cached), last(lane.relists, "from"), last(lane.syncs, "from"),
    lane.seenT < t ? lane.seenT : -1,
  );
}

/** Whether anything was said, asked or found in a lane between two times. @param {Lane} lane @param {[number, number]} between */
export function changed(lane, [from, to]) {
  return [lane.stops, lane.asks, lane.finds, lane.ticks].some((items) => {
    const first = items[lowerBound(items, from)];
    return first !== undefined && first.t <= to;
  });
}

/**
 * Whether nothing happens in a lane from `from` to `to`, as far as one knows here. What is under way,
 * a stop that nobody noticed yet, and an inspection that fails are not quiet, however long they last.
 * @param {Lane} lane @param {number} from @param {number} to @param {number} known since when all is known here (ns)
 */
export function isQuiet(lane, from, to, known) {
  if (lane.error || lane.waiting.size || lane.open.size || lane.syncs[lane.syncs.length - 1]?.to === null) return false;
  if (from < known && lane.seenT < known) return false;
  if (lane.goneT !== null && lane.goneT >= from && lane.goneT <= to) return false;
  return activityBefore(lane, to) < from;
}

/** @param {Lane} a @param {Lane} b */
const byName = (a, b) => NAMES.compare(a.label, b.label) || NAMES.compare(a.namespace, b.namespace) || (a.uid < b.uid ? -1 : 1);

/**
 * Lanes in order. `before` (ns), of the activity: what came at that time or later does not count, and
 * nothing but the times of records does; null: everything up to now.
 * @param {Iterable<Lane>} lanes @param {Sort} sort @param {number|null} before @returns {Lane[]}
 */
export function sorted(lanes, sort, before) {
  const all = [...lanes];
  if (sort === "name") return all.sort(byName);
  /** @type {(lane: Lane) => number} */
  const weigh = sort === "restarts" ? (lane) => lane.restarts
    : sort === "slowest" ? (lane) => lane.slowness
      : before === null ? (lane) => lane.lastT : (lane) => activityBefore(lane, before);
  const weight = new Map(all.map((lane) => [lane, weigh(lane)]));
  const heavier = (/** @type {Lane} */ a, /** @type {Lane} */ b) => /** @type {number} */ (weight.get(b)) - /** @type {number} */ (weight.get(a));
  if (sort === "activity") return all.sort((a, b) => heavier(a, b) || (before === null ? 0 : a.seenT - b.seenT) || (a.label < b.label ? -1 : 1));
  return all.sort((a, b) => heavier(a, b) || byName(a, b));
}

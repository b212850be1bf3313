// @ts-check
/**
 * Which lanes there are, in which order, and where.
 *
 * Newest activity first. A lane never moves while the pointer or the focus is in the lanes; and to
 * keep the picture calm it is sorted anew only when something happened out of sight, or every
 * half minute.
 *
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {import("./store.js").Store} Store
 * @typedef {{lane: Lane|null, group: string, pods: number, y: number, h: number, tall: boolean}} Row
 *   A lane, or (lane null) the heading of a namespace. `y` from the top of all lanes, CSS px.
 */

import { lowerBound } from "./lane.js";

/** Sorted anew at least this often (ns). */
const CALM = 30e9;

/** When anything happened in a lane last before `t`; before all others if nothing did. @param {Lane} lane @param {number} t */
export function activityBefore(lane, t) {
  const last = (/** @type {any[]} */ items, key = "t") => items[lowerBound(items, t, key) - 1]?.[key] ?? -1;
  return Math.max(
    last(lane.stops), last(lane.ticks), last(lane.asks), last(lane.finds), last(lane.cached), last(lane.relists, "from"), last(lane.syncs, "from"),
    lane.seenT < t ? lane.seenT : -1,
  );
}

/** Whether a pod's name, namespace or UID has each word of the filter. @param {Lane} lane @param {string} filter */
export function matches(lane, filter) {
  if (!filter) return true;
  const text = `${lane.name} ${lane.namespace} ${lane.uid} ${lane.namespace}/${lane.name}`.toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** Whether anything happened in a lane between two times. @param {Lane} lane @param {[number, number]} between */
function changed(lane, [from, to]) {
  return [lane.stops, lane.asks, lane.finds, lane.ticks].some((items) => {
    const first = items[lowerBound(items, from)];
    return first !== undefined && first.t <= to;
  });
}

export class Lineup {
  /**
   * @param {number} [steady] If given, the order of the lanes follows from the time that is shown and
   * nothing else: whoever was active last before the present stretch of so many ns comes first, then
   * who came in it. So two who look at the same moment of a run see the same order.
   */
  constructor(steady) {
    this.steady = steady;
    this.steadyKey = "";
    this.filter = "";
    /** Only lanes where something was said, asked or found between these times. @type {[number, number]|null} */
    this.near = null;
    /** @type {"none"|"namespace"} */
    this.group = "none";
    /** The pointer or the focus is inside: nothing may move. */
    this.held = false;
    /** @type {string[]} */
    this.order = [];
    this.sortedAt = -Infinity;
    this.wanted = true;
    /** @type {Row[]} */
    this.rows = [];
    this.height = 0;
    /** Pods that the filter hides. */
    this.hidden = 0;
    this.total = 0;
  }

  /** Sort at the next chance: the filter or the grouping changed. */
  resort() {
    this.wanted = true;
  }

  /**
   * @param {Store} store
   * @param {{now: number, from: number, lane: number, heading: number, tall: number, label: number,
   *   selected: string|null, top: number, view: number}} at `lane`, `heading`, `tall`, `label`: heights;
   *   `from`: left edge in time: gone pods without marks since then have no lane; `top`, `view`:
   *   what is in sight
   */
  arrange(store, at) {
    const present = new Map();
    this.total = 0;
    this.hidden = 0;
    for (const lane of store.lanes.values()) {
      if (lane.goneT !== null && Math.max(lane.goneT, lane.lastT) < at.from && lane.uid !== at.selected) continue;
      this.total += 1;
      if (matches(lane, this.filter) && (!this.near || lane.uid === at.selected || changed(lane, this.near))) present.set(lane.uid, lane);
      else this.hidden += 1;
    }
    if (this.steady && !this.held) this.#sortSteadily(present, at.now, this.steady);
    else if (!this.steady && this.#due(present, at)) this.#sort(present, at.now);
    else this.#keep(present);
    this.#place(present, at);
  }

  /** @param {Map<string, Lane>} present @param {{now: number, top: number, view: number}} at */
  #due(present, at) {
    if (this.wanted) return true;
    if (this.held) return false;
    if (at.now - this.sortedAt > CALM) return true;
    if (this.height <= at.view) return false;
    const newest = [...present.values()].reduce((a, b) => (b.lastT > a.lastT ? b : a), { lastT: -1, uid: "" });
    const row = this.rows.find((each) => each.lane?.uid === newest.uid);
    return row === undefined || row.y + row.h <= at.top || row.y >= at.top + at.view;
  }

  /** @param {Map<string, Lane>} present @param {number} now */
  #sort(present, now) {
    this.order = [...present.values()]
      .sort((a, b) => b.lastT - a.lastT || (a.label < b.label ? -1 : 1))
      .map((lane) => lane.uid);
    this.sortedAt = now;
    this.wanted = false;
  }

  /** @param {Map<string, Lane>} present @param {number} now @param {number} steady */
  #sortSteadily(present, now, steady) {
    const since = Math.floor(now / steady) * steady;
    const key = `${since}|${[...present.keys()].join()}`;
    if (key === this.steadyKey && !this.wanted) return;
    this.steadyKey = key;
    this.wanted = false;
    const active = new Map([...present.values()].map((lane) => [lane.uid, activityBefore(lane, since)]));
    const last = (/** @type {Lane} */ lane) => /** @type {number} */ (active.get(lane.uid));
    this.order = [...present.values()]
      .sort((a, b) => last(b) - last(a) || a.seenT - b.seenT || (a.label < b.label ? -1 : 1))
      .map((lane) => lane.uid);
  }

  /** Same order; gone ones out, new ones on top (or, while nothing may move, at the end). @param {Map<string, Lane>} present */
  #keep(present) {
    this.steadyKey = "";
    const known = new Set(this.order);
    const fresh = [...present.keys()].filter((uid) => !known.has(uid)).reverse();
    const kept = this.order.filter((uid) => present.has(uid));
    this.order = this.held ? [...kept, ...fresh.reverse()] : [...fresh, ...kept];
  }

  /**
   * @param {Map<string, Lane>} present
   * @param {{lane: number, heading: number, tall: number, label: number, selected: string|null}} at
   */
  #place(present, at) {
    /** @type {Row[]} */
    const rows = [];
    let y = 0;
    const add = (/** @type {Lane} */ lane) => {
      const tall = lane.uid === at.selected;
      const h = (tall ? at.tall : at.lane) + at.label;
      rows.push({ lane, group: lane.namespace, pods: 1, y, h, tall });
      y += h;
    };
    const lanes = /** @type {Lane[]} */ (this.order.map((uid) => present.get(uid)));
    if (this.group === "namespace") {
      /** @type {Map<string, Lane[]>} */
      const groups = new Map();
      for (const lane of lanes) {
        const members = groups.get(lane.namespace);
        if (members) members.push(lane);
        else groups.set(lane.namespace, [lane]);
      }
      for (const [name, members] of groups) {
        rows.push({ lane: null, group: name, pods: members.length, y, h: at.heading, tall: false });
        y += at.heading;
        members.forEach(add);
      }
    } else lanes.forEach(add);
    this.rows = rows;
    this.height = y;
  }

  /** Rows between two heights. @param {number} top @param {number} bottom */
  visible(top, bottom) {
    return this.rows.filter((row) => row.y < bottom && row.y + row.h > top);
  }
}

// @ts-check
/**
 * Which lanes there are, in which order, and where.
 *
 * A lane never moves while the pointer or the focus is in the lanes, but by the reader's own hand;
 * and to keep the picture calm they are sorted anew only when something happened out of sight, or
 * every half minute. Pinned lanes stand on top, in the order in which they were pinned. A pod may be
 * folded out: each of its containers gets a row below it. Quiet pods may be folded away: one row
 * says how many there are, as it does of those that a filter hides.
 *
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {import("./lane.js").Part} Part
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./lane-order.js").Sort} Sort
 * @typedef {"quiet"|"near"|"filter"} Fold why pods are not shown
 * @typedef {{
 *   lane: Lane|null, group: string, pods: number, y: number, h: number, tall: boolean,
 *   id?: string, part?: Part|null, fold?: Fold|null, pinned?: boolean, open?: boolean
 * }} Row
 *   A lane; one of its containers (`part`); or (lane null) the heading of a namespace, or how many
 *   `pods` are not shown and why (`fold`). `y` from the top of all lanes, CSS px. `id` is the row's
 *   own as long as it is there. `open`: its containers have rows.
 * @typedef {{
 *   now: number, from: number, to?: number, lane: number, heading: number, tall: number, label: number,
 *   selected: string|null, top: number, view: number
 * }} At `lane`, `heading`, `tall`, `label`: heights; `from`, `to`: edges of the window in time: gone
 *   pods without marks since then have no lane; `top`, `view`: what is in sight
 */
import { changed, isQuiet, laneKey, sorted } from "./lane-order.js";

export { activityBefore } from "./lane-order.js";

/** Sorted anew at least this often (ns). */
const CALM = 30e9;
/** Pods that are pinned, or folded out one by one, at most: links hold their names. */
export const MOST_KEPT = 24;

/** Whether a pod's name, namespace or UID has each word of the filter. @param {Lane} lane @param {string} filter */
export function matches(lane, filter) {
  if (!filter) return true;
  const text = `${lane.name} ${lane.namespace} ${lane.uid} ${lane.namespace}/${lane.name}`.toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** In if it was not, else out; the oldest give way. @param {string[]} list @param {string} key @returns {string[]} */
export function toggled(list, key) {
  return list.includes(key) ? list.filter((each) => each !== key) : [...list, key].slice(-MOST_KEPT);
}

export class Lineup {
  /**
   * @param {number} [steady] If given, the order of the lanes follows from the time that is shown and
   * nothing else: whoever was active last before the present stretch of so many ns comes first, then
   * who came in it. So two who look at the same moment of a run see the same order. Another order
   * than by activity follows from what is known at that moment.
   */
  constructor(steady) {
    this.steady = steady;
    /** Before each pod's key, where several nodes share a link: pods of two nodes may have one name. */
    this.mark = "";
    this.steadyKey = "";
    this.filter = "";
    /** Only lanes where something was said, asked or found between these times. @type {[number, number]|null} */
    this.near = null;
    /** @type {"none"|"namespace"} */
    this.group = "none";
    /** @type {Sort} */
    this.sort = "activity";
    /** Pods that stay on top, by the key of a link. @type {string[]} */
    this.pins = [];
    /** Pods that are folded out, by the key of a link. @type {string[]} */
    this.unfolded = [];
    /** All pods are folded out. */
    this.allUnfolded = false;
    /** Quiet pods are folded away. */
    this.quietFolded = false;
    /** The order that the table had last: by what, and each pod's place. @type {{how: string, places: Map<string, number>}} */
    this.tabled = { how: "", places: new Map() };
    /** A row says how many pods the filter hides. */
    this.tellsHidden = true;
    /** It does so too when no pod is left: nobody else says it here. */
    this.tellsAll = false;
    /** The pointer or the focus is inside: nothing may move. */
    this.held = false;
    /** @type {string[]} */
    this.order = [];
    this.sortedAt = -Infinity;
    this.wanted = true;
    /** @type {Row[]} */
    this.rows = [];
    this.height = 0;
    /** Pods that the filter hides, or that are not near the selected mark. */
    this.hidden = 0;
    /** Pods that are folded away as they are quiet. */
    this.quiet = 0;
    this.total = 0;
  }

  /** Sort at once: by the reader's hand the filter, the grouping or the order changed. */
  resort() {
    this.wanted = true;
  }

  /** Sort as soon as nothing may stand in the way: what is known is another than before. */
  renew() {
    this.sortedAt = -Infinity;
    this.steadyKey = "";
  }

  /** What a link calls a pod of this node. @param {Lane} lane */
  keyOf(lane) {
    return this.mark + laneKey(lane);
  }

  /** @param {Lane} lane */
  isPinned(lane) {
    return this.pins.length > 0 && this.pins.includes(this.keyOf(lane));
  }

  /** @param {Lane} lane */
  isOpen(lane) {
    return (this.allUnfolded || (this.unfolded.length > 0 && this.unfolded.includes(this.keyOf(lane)))) && lane.parts.size > 0;
  }

  /**
   * Lanes as the chosen order has them, pinned ones first: for the table.
   * @param {Iterable<Lane>} lanes @param {boolean} [held] nothing may move there: as it was, who is new last
   */
  inOrder(lanes, held = false) {
    const how = `${this.sort}|${this.pins}`;
    const same = held && this.tabled.how === how;
    const place = (/** @type {Lane} */ lane) => (same ? this.tabled.places.get(lane.uid) ?? Infinity : this.isPinned(lane) ? this.pins.indexOf(this.keyOf(lane)) : Infinity);
    const all = sorted(lanes, this.sort, null).map((lane) => ({ lane, at: place(lane) }))
      .sort((a, b) => (a.at === b.at ? 0 : a.at - b.at)).map(({ lane }) => lane);
    this.tabled = { how, places: new Map(all.map((lane, i) => [lane.uid, i])) };
    return all;
  }

  /** Whether a pod is one of those the filter lets through, and near the mark. @param {Lane} lane @param {string|null} selected */
  passes(lane, selected) {
    return matches(lane, this.filter) && (!this.near || lane.uid === selected || changed(lane, this.near));
  }

  /** @param {Store} store @param {At} at */
  arrange(store, at) {
    /** @type {Map<string, Lane>} */
    const present = new Map();
    this.total = 0;
    this.hidden = 0;
    this.quiet = 0;
    const fixed = this.held && !this.wanted;
    const shown = new Set(this.quietFolded && fixed ? this.order : []);
    const to = at.to ?? at.now;
    // In steps, so that the lanes that become quiet go together and not one by one.
    const step = Math.min(CALM, Math.max(1, (to - at.from) / 4));
    const since = Math.floor(at.from / step) * step;
    const known = store.truncated ? store.firstT : -Infinity;
    for (const lane of store.lanes.values()) {
      if (lane.goneT !== null && Math.max(lane.goneT, lane.lastT) < at.from && lane.uid !== at.selected) continue;
      this.total += 1;
      if (!this.passes(lane, at.selected)) this.hidden += 1;
      else if (this.quietFolded && !shown.has(lane.uid) && lane.uid !== at.selected && !this.isPinned(lane) && isQuiet(lane, since, to, known)) this.quiet += 1;
      else present.set(lane.uid, lane);
    }
    if (this.steady && !fixed) this.#sortSteadily(present, at.now, this.steady, store.revision);
    else if (!this.steady && this.#due(present, at)) this.#sort(present, at.now);
    else this.#keep(present);
    this.#place(present, at);
  }

  /** @param {Map<string, Lane>} present @param {At} at */
  #due(present, at) {
    if (this.wanted) return true;
    if (this.held) return false;
    if (at.now - this.sortedAt > CALM) return true;
    if (this.sort !== "activity") {
      // A pod that comes has its place.
      const known = new Set(this.order);
      return [...present.keys()].some((uid) => !known.has(uid));
    }
    if (this.height <= at.view) return false;
    let newest = null;
    for (const lane of present.values()) if (!newest || lane.lastT > newest.lastT) newest = lane;
    const row = this.rows.find((each) => each.lane === newest && !each.part);
    return row === undefined || row.y + row.h <= at.top || row.y >= at.top + at.view;
  }

  /** @param {Map<string, Lane>} present @param {number} now */
  #sort(present, now) {
    this.order = sorted(present.values(), this.sort, null).map((lane) => lane.uid);
    this.sortedAt = now;
    this.wanted = false;
  }

  /** @param {Map<string, Lane>} present @param {number} now @param {number} steady @param {number} revision */
  #sortSteadily(present, now, steady, revision) {
    const since = Math.floor(now / steady) * steady;
    const key = `${this.sort}|${this.sort === "activity" ? since : revision}|${[...present.keys()].join()}`;
    if (key === this.steadyKey && !this.wanted) return;
    this.steadyKey = key;
    this.wanted = false;
    this.order = sorted(present.values(), this.sort, since).map((lane) => lane.uid);
  }

  /** Same order; gone ones out, new ones on top (or, while nothing may move, at the end). @param {Map<string, Lane>} present */
  #keep(present) {
    this.steadyKey = "";
    const known = new Set(this.order);
    const fresh = [...present.keys()].filter((uid) => !known.has(uid)).reverse();
    const kept = this.order.filter((uid) => present.has(uid));
    this.order = this.held ? [...kept, ...fresh.reverse()] : [...fresh, ...kept];
    // Who came late has another place in such an order.
    if (this.held && fresh.length && this.sort !== "activity") this.renew();
  }

  /** @param {Map<string, Lane>} present @param {At} at */
  #place(present, at) {
    /** @type {Row[]} */
    const rows = [];
    let y = 0;
    const push = (/** @type {string} */ id, /** @type {number} */ h, /** @type {Partial<Row>} */ row) => {
      rows.push({ lane: null, group: "", pods: 1, tall: false, part: null, fold: null, ...row, id, y, h });
      y += h;
    };
    // A container has two tiers, not three.
    const low = Math.round(at.lane * 0.8);
    const add = (/** @type {Lane} */ lane, pinned = false) => {
      const tall = lane.uid === at.selected;
      const open = this.isOpen(lane);
      push(lane.uid, (tall ? at.tall : at.lane) + at.label, { lane, group: lane.namespace, tall, pinned, open });
      if (open) for (const part of lane.parts.values()) push(`${lane.uid}/${part.name}`, low + at.label, { lane, group: lane.namespace, part });
    };
    const heading = (/** @type {string} */ id, /** @type {string} */ group, /** @type {Lane[]} */ members) => push(id, at.heading, { group, pods: members.length });
    const [pinned, lanes] = this.#parted(present);
    if (pinned.length && this.group === "namespace") heading("pinned", "Pinned", pinned);
    for (const lane of pinned) add(lane, true);
    if (this.group === "namespace") {
      for (const [name, members] of this.#groups(lanes)) {
        heading(`group ${name}`, name, members);
        for (const lane of members) add(lane);
      }
    } else for (const lane of lanes) add(lane);
    if (this.quiet) push("quiet", at.heading, { pods: this.quiet, fold: "quiet" });
    // Where no pod is left the page says so itself.
    if (this.hidden && this.tellsHidden && (present.size || this.quiet || this.tellsAll)) push("hidden", at.heading, { pods: this.hidden, fold: this.near ? "near" : "filter" });
    this.rows = rows;
    this.height = y;
  }

  /** Pinned ones, and the others, each in order. @param {Map<string, Lane>} present @returns {[Lane[], Lane[]]} */
  #parted(present) {
    const lanes = this.order.flatMap((uid) => present.get(uid) ?? []);
    if (!this.pins.length) return [[], lanes];
    const place = (/** @type {Lane} */ lane) => this.pins.indexOf(this.keyOf(lane));
    const pinned = lanes.filter((lane) => this.isPinned(lane)).sort((a, b) => place(a) - place(b));
    return [pinned, lanes.filter((lane) => !this.isPinned(lane))];
  }

  /** @param {Lane[]} lanes @returns {[string, Lane[]][]} */
  #groups(lanes) {
    /** @type {Map<string, Lane[]>} */
    const groups = new Map();
    for (const lane of lanes) {
      const members = groups.get(lane.namespace);
      if (members) members.push(lane);
      else groups.set(lane.namespace, [lane]);
    }
    const all = [...groups];
    return this.sort === "name" ? all.sort(([a], [b]) => (a < b ? -1 : 1)) : all;
  }

  /** Rows between two heights. @param {number} top @param {number} bottom */
  visible(top, bottom) {
    return this.rows.filter((row) => row.y < bottom && row.y + row.h > top);
  }
}

// @ts-check
/**
 * One pod's part of the store: what was said, asked and found, in order of time.
 *
 * @typedef {import("./types.js").Rec} Rec
 *
 * @typedef {{t: number, seq: number, rec: Rec}} Tick An event that asks for nothing.
 * @typedef {{t: number, seq: number, rec: Rec, find: Find|null, moot: boolean}} Stop
 *   A stop event. `moot`: no relist will find anything for it (it was known already).
 * @typedef {{what: "waiting"|"held", from: number, to: number|null}} Span
 * @typedef {{
 *   id: number, seq: number, t: number, uid: string, source: string, event: number|null,
 *   spans: Span[], end: string|null, endT: number|null, endSeq: number|null,
 *   relist: number|null, known: boolean
 * }} Ask A relist request. `end`: what became of it, null while it waits; `relist`: the one that
 *   carried it out, or the newer global relist that covered it. `known`: its making was seen.
 * @typedef {{
 *   id: number, seq: number, scope: "global"|"pod", source: string, uid: string|null,
 *   request: number|null, from: number, to: number|null, ok: boolean|null, done: Rec|null,
 *   waited: number|null, finds: Find[], ordinal: number
 * }} Relist `to` is null while it is in progress. `ordinal` counts the global ones on this page.
 * @typedef {{
 *   t: number, seq: number, rec: Rec, from: number|null, fan: number, again: boolean
 * }} Find A lifecycle event. `from`: since when the pod cache was wrong; `fan`: its place among
 *   the findings of one relist; `again`: this container's death had been told before.
 * @typedef {{seq: number, from: number, to: number|null, rec: Rec|null}} Sync
 * @typedef {{t: number, seq: number, running: number, before: boolean|null, on?: readonly string[]|null}} Cached
 *   The pod cache from `t` on; `before`: whether something ran until then (null: not known); `on`:
 *   names of the containers that run (null: not known which).
 * @typedef {{name: string, restarts: number, state: string, exit: number|null, reason: string}} Part
 *   One container of the pod, whichever of its instances is the newest. `restarts`: the highest number
 *   that was told; `state`: as the runtime has it, empty if it has it no longer.
 */

/** Containers of one pod that are told apart, at most. */
const MOST_PARTS = 64;

/** A finding's runtime time is believed up to this age (ns): beyond, clocks disagree. */
const TAIL_LIMIT = 3600e9;

/** First index with t >= `t` in an array sorted by `key`. @param {any[]} items @param {number} t @param {string} key */
export function lowerBound(items, t, key = "t") {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle][key] < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Where to begin in an array of things that last, to meet all that reach into a window.
 * @param {any[]} items sorted by `key` @param {number} from left edge @param {number} longest how
 * long an ended one lasts at most @param {any} open the oldest one that has not ended @param {string} key
 */
export function firstWithin(items, from, longest, open, key = "t") {
  const first = lowerBound(items, from - longest, key);
  const at = open ? items.indexOf(open) : -1;
  return at < 0 ? first : Math.min(first, at);
}

export class Lane {
  /** @param {string} uid @param {number} t when the pod was first seen */
  constructor(uid, t) {
    this.uid = uid;
    this.name = "";
    this.namespace = "";
    this.seenT = t;
    /** @type {number|null} */
    this.goneT = null;
    /** Of a recording: it comes after the cursor, and nothing of it has happened yet. */
    this.ahead = false;
    this.lastT = t;
    this.error = "";
    /** Containers the pod cache has as running now. */
    this.running = 0;
    /** @type {Stop[]} */ this.stops = [];
    /** @type {Tick[]} */ this.ticks = [];
    /** Events that the pod cache refused. @type {Tick[]} */ this.refused = [];
    /** @type {Ask[]} */ this.asks = [];
    /** @type {Relist[]} */ this.relists = [];
    /** @type {Find[]} */ this.finds = [];
    /** @type {Sync[]} */ this.syncs = [];
    /** @type {Cached[]} */ this.cached = [];
    /** Longest thing in each array (ns): how far before a window one must look. */
    this.longest = { asks: 0, relists: 0, finds: 0, syncs: 0 };
    /** Containers whose death was found, by id. @type {Set<string>} */
    this.dead = new Set();
    /** Stop events whose death was not found yet, by container. @type {Map<string, Stop[]>} */
    this.open = new Map();
    /** Requests that have not ended, oldest first. @type {Set<Ask>} */
    this.waiting = new Set();
    /** The session's first relist: what was before it is not known. @type {number|null} */
    this.baseline = null;
    /** What died or started by relist, until the cache entry comes. @type {Map<number, {died: Set<string>, started: Set<string>}>} */
    this.moves = new Map();
    /** The cache entry whose relist's findings may still come. @type {{relist: number|null|undefined, ids: string[]}|null} */
    this.pending = null;
    /** Newest death that was found, for the label. @type {Find|null} */
    this.lastDeath = null;
    /** The death that was unnoticed longest, of those whose time is known. @type {Find|null} */
    this.slowest = null;
    /** The pod's containers by name, oldest first. @type {Map<string, Part>} */
    this.parts = new Map();
  }

  get label() {
    return this.name.trim() || `new pod ${this.uid.slice(0, 8)}`;
  }

  /** How often its containers have been started again. */
  get restarts() {
    let n = 0;
    for (const part of this.parts.values()) n += part.restarts;
    return n;
  }

  /** How long its slowest death was unnoticed (ns); below all others if none is known. */
  get slowness() {
    return this.slowest ? this.slowest.t - /** @type {number} */ (this.slowest.from) : -1;
  }

  /** @param {Find} find */
  #weigh(find) {
    if (find.from !== null && !find.rec.is_sandbox && find.t - find.from > this.slowness) this.slowest = find;
  }

  /** @param {string} name */
  #part(name) {
    let part = this.parts.get(name);
    if (!part && this.parts.size < MOST_PARTS) {
      part = { name, restarts: 0, state: "", exit: null, reason: "" };
      this.parts.set(name, part);
    }
    return part ?? null;
  }

  /**
   * The pod's containers as the pod cache has them, newest first.
   * @param {any[]} containers @returns {readonly string[]} names of those that run
   */
  told(containers) {
    const on = new Set();
    const newest = new Set(containers.map((each) => each.name));
    for (let i = containers.length - 1; i >= 0; i -= 1) {
      const { name, attempt, runtime_state: state, exit_code: exit, reason } = containers[i];
      if (state === "running") on.add(name);
      const part = this.#part(name);
      if (!part) continue;
      // The last one that is met is the newest of its name.
      Object.assign(part, { state, exit: exit ?? null, reason: reason ?? "", restarts: Math.max(part.restarts, attempt ?? 0) });
    }
    for (const part of this.parts.values()) if (!newest.has(part.name)) part.state = "";
    const before = this.cached[this.cached.length - 1]?.on;
    return before && before.length === on.size && before.every((name) => on.has(name)) ? before : [...on];
  }

  /** Something happened here. @param {number} t */
  touch(t) {
    if (t > this.lastT) this.lastT = t;
  }

  /** @param {Rec} rec @returns {Stop} */
  addStop(rec) {
    const stop = { t: rec.t, seq: rec.seq, rec, find: null, moot: rec.backlog === true };
    // The death was found before the event came (a poll was quicker): nothing is unnoticed.
    if (this.dead.has(rec.container_id ?? "")) stop.moot = true;
    this.stops.push(stop);
    if (stop.moot) return stop;
    const id = rec.container_id ?? "";
    const open = this.open.get(id);
    if (open) open.push(stop);
    else this.open.set(id, [stop]);
    return stop;
  }

  /** @param {Rec} rec @returns {Find} */
  addFind(rec) {
    let from = null;
    const again = rec.type === "ContainerDied" && this.dead.has(rec.container_id ?? "");
    if (rec.type === "ContainerDied" && rec.old_state === "running" && !rec.baseline && !again) {
      if (typeof rec.stop_t === "number") from = rec.stop_t;
      else if (rec.since_finished_ns && rec.since_finished_ns > 0 && rec.since_finished_ns < TAIL_LIMIT) {
        from = rec.t - rec.since_finished_ns;
      }
    }
    const last = this.finds[this.finds.length - 1];
    const shown = rec.delivery !== "filtered";
    // Events that are believed have no relist: only what one of them told belongs together.
    const fan = shown && last && last.rec.relist === rec.relist && (rec.relist !== 0 || last.t === rec.t) ? last.fan + 1 : 0;
    const find = { t: rec.t, seq: rec.seq, rec, from, fan, again };
    if (shown) {
      this.finds.push(find);
      this.#weigh(find);
    }
    const part = rec.is_sandbox || !rec.container_name ? null : this.#part(rec.container_name);
    if (part) part.restarts = Math.max(part.restarts, rec.attempt ?? 0);
    if (from !== null) this.longest.finds = Math.max(this.longest.finds, rec.t - from);
    if (rec.baseline) this.baseline = rec.relist ?? null;
    if (rec.type === "ContainerDied") {
      this.dead.add(rec.container_id ?? "");
      for (const stop of this.open.get(rec.container_id ?? "") ?? []) stop.find ??= find;
      this.open.delete(rec.container_id ?? "");
      if (!rec.is_sandbox && !rec.baseline && !again && rec.old_state !== "non-existent") this.lastDeath = find;
    }
    const id = rec.container_id ?? "";
    if (!rec.is_sandbox && typeof rec.relist === "number") {
      if (!this.moves.has(rec.relist)) {
        if (this.moves.size > 8) this.moves.clear();
        this.moves.set(rec.relist, { died: new Set(), started: new Set() });
      }
      const moves = this.moves.get(rec.relist);
      if (rec.old_state === "running") moves?.died.add(id);
      if (rec.new_state === "running") moves?.started.add(id);
      this.#explain();
    }
    return find;
  }

  /** The pod cache got a new entry. @param {Rec} rec */
  addCached(rec) {
    const containers = Array.isArray(rec.containers) ? rec.containers : [];
    const ids = containers.filter((c) => c.runtime_state === "running").map((c) => c.id);
    this.name = rec.name || this.name;
    this.namespace = rec.namespace || this.namespace;
    this.error = rec.error ?? "";
    if (this.error) return;
    this.running = ids.length;
    this.cached.push({ t: rec.t, seq: rec.seq, running: ids.length, before: null, on: this.told(containers) });
    this.pending = { relist: rec.relist, ids };
    this.#explain();
  }

  /** The pod cache's entry is gone. @param {Rec} rec */
  addUncached(rec) {
    this.cached.push({ t: rec.t, seq: rec.seq, running: 0, before: null, on: this.told([]) });
    this.running = 0;
  }

  /**
   * What ran before the oldest known cache entry is told by that relist's findings: they name the
   * old states. Findings and cache entry may come in either order.
   */
  #explain() {
    const pending = this.pending;
    if (!pending || this.cached.length !== 1) return;
    if (pending.relist === this.baseline) {
      this.cached[0].before = null;
      return;
    }
    const moves = this.moves.get(pending.relist ?? -1);
    const kept = pending.ids.filter((id) => !moves?.started.has(id)).length;
    this.cached[0].before = kept > 0 || (moves?.died.size ?? 0) > 0;
  }

  /** Whether this pod's SyncPod was running at some time from `from` on. @param {number} from */
  syncingSince(from) {
    const last = this.syncs[this.syncs.length - 1];
    return last !== undefined && (last.to === null || last.to >= from);
  }

  /** Forget what is older than record `seq`, but not what has not ended. @param {number} seq */
  prune(seq) {
    const young = (/** @type {{seq: number}} */ item) => item.seq >= seq;
    this.stops = this.stops.filter(young);
    for (const [id, stops] of this.open) if (!stops.some((stop) => young(stop) && !stop.moot)) this.open.delete(id);
    this.ticks = this.ticks.filter(young);
    this.refused = this.refused.filter(young);
    this.asks = this.asks.filter((ask) => young(ask) || ask.end === null);
    this.relists = this.relists.filter((relist) => young(relist) || relist.to === null);
    this.finds = this.finds.filter(young);
    this.dead = new Set(this.finds.filter((find) => find.rec.type === "ContainerDied").map((find) => find.rec.container_id ?? ""));
    this.syncs = this.syncs.filter((sync) => young(sync) || sync.to === null);
    // The last old entry still says what ran at the beginning of what is kept.
    const old = this.cached.findIndex(young);
    this.cached.splice(0, Math.max(0, (old < 0 ? this.cached.length : old) - 1));
    if (this.lastDeath && !young(this.lastDeath)) this.lastDeath = null;
    if (this.slowest && !young(this.slowest)) {
      this.slowest = null;
      for (const find of this.finds) this.#weigh(find);
    }
  }

  get isEmpty() {
    return !(this.stops.length || this.ticks.length || this.refused.length || this.asks.length || this.relists.length
      || this.finds.length || this.syncs.length);
  }
}

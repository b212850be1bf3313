// @ts-check
/**
 * Plays a run: all its records are here, and a cursor says up to where they have happened. To the
 * page it is a source like the WebSocket: moving the cursor forward is a batch, moving it back a
 * snapshot of what was before, so what lies ahead is not known to the page and cannot be drawn.
 *
 * The cursor is a time `t` (ns) and a number `seq` of records. All records before `t` have happened;
 * of those at `t` exactly the first ones may have, when one steps record by record.
 *
 * Used by the run page and by the lessons; see nodepage.js for how a page is put around it.
 *
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {import("./types.js").SessionState} SessionState
 * @typedef {{t: number, name: string, target: string}} Press
 * @typedef {{
 *   query: string, scenario: string, title: string, shows: string, seed: number, profile: string,
 *   runtime: string, duration_ns: number, presses: Press[]
 * }} Played
 * @typedef {{run: Played, state: SessionState, changes: import("./reel.js").Change[], records: Rec[]}} RunRecords
 * @typedef {"following"|"paused"|"playing"|"stepping"} PlayState
 *   `following`: at the end, where more may come; `stepping`: right after a record, as a step leads.
 *   All but playing follow from the cursor, and so from the link.
 * @typedef {(t: number, seq: number) => void} Watcher
 */
import { lowerBound } from "./lane.js";
import { Reel } from "./reel.js";

export const SLOWEST = 0.1;
export const FASTEST = 100;
export const RATES = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 100];

/** The page's clock stands where the cursor is. */
export class PlayerClock {
  /** @param {Player} player */
  constructor(player) {
    this.player = player;
    this.still = false;
    this.speed = 1;
    /** wall ns minus t ns */
    this.wallOffset = 0;
  }

  now() {
    return this.player.t;
  }

  /** @param {number} t */
  wall(t) {
    return t + this.wallOffset;
  }

  /** A run is never late. */
  silence() {
    return 0;
  }

  /** What a message says about the time is what the cursor says already. @param {number} t @param {number} wall */
  heard(t, wall) {
    this.wallOffset = wall - t;
  }

  lastHeard() {
    return this.now();
  }

  setSpeed() {}

  alive() {}

  reset() {}
}

export class Player {
  /**
   * @param {{
   *   load: () => Promise<RunRecords>, mono?: () => number, t?: number, seq?: number|null
   * }} options `load`: gets the run. `mono`: milliseconds. `t`, `seq`: where the cursor begins.
   */
  constructor(options) {
    this.options = options;
    this.mono = options.mono ?? (() => performance.now());
    this.clock = new PlayerClock(this);
    /** @type {import("./connection.js").Link} */
    this.link = "connecting";
    this.farewell = "";
    /** Why the run could not be had, in a sentence. */
    this.trouble = "";
    /** @type {Played|null} */
    this.run = null;
    /** @type {Rec[]} */
    this.records = [];
    /** @type {Reel|null} */
    this.reel = null;
    this.t = options.t ?? 0;
    this.seq = 0;
    this.rate = 1;
    this.playing = false;
    /** Where playing stops by itself (t), if it does before the end. @type {number|null} */
    this.until = null;
    this.framed = 0;
    /** Told after each move. @type {Watcher[]} */
    this.onCursor = [];
    /** Told when playing begins or ends, or the rate changes. @type {(() => void)[]} */
    this.onState = [];
    /** Told once the run is here, or cannot be had. @type {(() => void)[]} */
    this.onLoad = [];
    /** @type {(message: import("./types.js").Message) => void} */
    this.take = () => {};
  }

  /** The page that is fed; returns the player, for `NodePage`. @param {{take: (message: import("./types.js").Message) => void}} page */
  attach(page) {
    this.take = (message) => page.take(message);
    return this;
  }

  get duration() {
    return this.run?.duration_ns ?? 0;
  }

  /** @returns {PlayState} */
  get state() {
    if (this.playing) return "playing";
    if (this.run && this.t >= this.duration) return "following";
    return this.t > 0 && this.newest?.t === this.t ? "stepping" : "paused";
  }

  /** The newest record that has happened. @returns {Rec|null} */
  get newest() {
    return this.records[this.seq - 1] ?? null;
  }

  /** How many records have happened, if some at this very time have not; else null: `t` tells. */
  get midway() {
    return this.records[this.seq]?.t === this.t ? this.seq : null;
  }

  /** Get the run and show it. For `NodePage`, which calls it. */
  start() {
    void this.load();
  }

  hurry() {
    if (this.trouble) void this.load();
  }

  /** Get the run; settled when it is shown, or cannot be had. */
  async load() {
    this.trouble = "";
    try {
      const told = await this.options.load();
      this.run = told.run;
      this.records = told.records;
      this.reel = new Reel(told.state, told.changes, told.records);
      this.link = "open";
      this.take({ type: "hello", session: told.state.session, version: "", resumed: false });
      this.#show(Math.min(this.t, this.duration), this.options.seq ?? null, true);
    } catch (error) {
      this.link = "waiting";
      this.trouble = error instanceof Error ? error.message : String(error);
    }
    for (const call of this.onLoad) call();
  }

  // Moving the cursor

  /** To a time: everything up to it has happened. @param {number} t ns */
  seek(t) {
    this.pause();
    this.#show(t, null);
  }

  /** Right after a record. @param {number} seq */
  seekTo(seq) {
    this.pause();
    const wanted = Math.max(0, Math.min(seq, this.records.length));
    this.#show(wanted ? this.records[wanted - 1].t : 0, wanted);
  }

  /** One record on, or back. @param {-1|1} direction */
  step(direction) {
    this.seekTo(this.seq + direction);
  }

  /** To the end of the next relist, or of the one before. @param {-1|1} direction @returns {boolean} whether there is one */
  stepRelist(direction) {
    return this.#stepTo(direction, (rec) => rec.kind === "relist_finished");
  }

  /** To the next record about a pod, or the one before. @param {string} uid @param {-1|1} direction @returns {boolean} whether there is one */
  stepPod(uid, direction) {
    return this.#stepTo(direction, (rec) => rec.uid === uid);
  }

  toStart() {
    this.seek(0);
  }

  toEnd() {
    this.seek(this.duration);
  }

  /** @param {-1|1} direction @param {(rec: Rec) => boolean} wanted */
  #stepTo(direction, wanted) {
    // The newest that has happened is not the one before.
    for (let seq = direction > 0 ? this.seq + 1 : this.seq - 1; seq >= 1 && seq <= this.records.length; seq += direction) {
      if (!wanted(this.records[seq - 1])) continue;
      this.seekTo(seq);
      return true;
    }
    return false;
  }

  // Playing

  /** Let time go on, from the beginning if it is at its end. @param {{rate?: number, until?: number}} [how] `until`: stop by itself at this time (ns) */
  play(how = {}) {
    if (!this.run) return;
    if (how.rate) this.setRate(how.rate);
    if (this.t >= this.duration) this.#show(0, null);
    this.until = how.until ?? null;
    this.playing = true;
    this.framed = this.mono();
    this.#tell();
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.until = null;
    this.#tell();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** How many times as fast as life. @param {number} rate */
  setRate(rate) {
    this.rate = Math.min(FASTEST, Math.max(SLOWEST, rate));
    this.#tell();
  }

  /** The next slower or faster rate. @param {-1|1} direction */
  shift(direction) {
    const next = direction > 0 ? RATES.find((rate) => rate > this.rate) : RATES.findLast((rate) => rate < this.rate);
    if (next) this.setRate(next);
  }

  /** Time has gone on; to be called before each frame. */
  frame() {
    if (!this.playing) return;
    const now = this.mono();
    // A page in the background is not called: what it has slept through is not played.
    const passed = Math.min(250, now - this.framed);
    this.framed = now;
    const end = Math.min(this.until ?? Infinity, this.duration);
    const t = Math.min(end, this.t + passed * 1e6 * this.rate);
    this.#show(t, null);
    if (t >= end) this.pause();
  }

  #tell() {
    for (const call of this.onState) call();
  }

  /** @param {number} t @param {number|null} seq null: all up to `t` @param {boolean} [fresh] */
  #show(t, seq, fresh = false) {
    if (!this.reel) return;
    this.t = Math.max(0, Math.min(t, this.duration));
    const all = upTo(this.records, this.t);
    // Of the records at this very time some may not have happened; those before it have.
    const wanted = seq === null ? all : Math.max(lowerBound(this.records, this.t), Math.min(seq, all));
    const state = this.reel.at(wanted, this.t);
    if (fresh || wanted < this.seq) {
      this.take({ type: "snapshot", state, pods: [], records: this.records.slice(0, wanted), truncated: false, seq: wanted, rewind: !fresh });
    } else {
      if (wanted > this.seq) this.take({ type: "batch", first: this.seq + 1, last: wanted, records: this.records.slice(this.seq, wanted) });
      this.take({ type: "state", state });
    }
    this.seq = wanted;
    for (const call of this.onCursor) call(this.t, this.seq);
  }
}

/** How many records have a time of at most `t`. @param {Rec[]} records @param {number} t */
export function upTo(records, t) {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (records[middle].t <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

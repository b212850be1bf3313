// @ts-check
/**
 * Plays a run, or a recording: a cursor says up to where its records have happened. To the page it
 * is a source like the WebSocket: moving the cursor forward is a batch, moving it back a snapshot of
 * what was before, so what lies ahead is not known to the page and cannot be drawn. Where the records
 * are is the film's business (film.js); when some are not here yet, the cursor moves once they are.
 *
 * The cursor is a time `t` (ns) and a number `seq` of records. All records before `t` have happened;
 * of those at `t` exactly the first ones may have, when one steps record by record.
 *
 * Used by the run page, the replay and the lessons; see nodepage.js for how a page is put around it.
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
import { Whole, upTo } from "./film.js";

export { upTo };

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
   *   load: () => Promise<RunRecords|import("./film.js").Film>, mono?: () => number, t?: number,
   *   seq?: number|null, growing?: () => boolean
   * }} options `load`: gets the run, or a film. `mono`: milliseconds. `t`, `seq`: where the cursor
   *   begins. `growing`: whether the end may be later still, as more is being read.
   */
  constructor(options) {
    this.options = options;
    this.mono = options.mono ?? (() => performance.now());
    this.growing = options.growing ?? (() => false);
    /** Where the cursor begins: a move before there is anything says so. */
    this.begin = { t: options.t ?? 0, seq: options.seq ?? null, asked: false };
    this.clock = new PlayerClock(this);
    /** @type {import("./connection.js").Link} */
    this.link = "connecting";
    this.farewell = "";
    /** Why the run could not be had, in a sentence. */
    this.trouble = "";
    /** @type {Played|null} */
    this.run = null;
    /** All of a run's records; of a recording none. @type {Rec[]} */
    this.records = [];
    /** @type {import("./film.js").Film|null} */
    this.film = null;
    /** Where the cursor goes once the records are here. @type {{t: number, seq: number|null}|null} */
    this.wanted = null;
    /** How many searches for where to step have no answer yet. */
    this.searching = 0;
    /** What is to be done where the cursor arrives. @type {(() => void)[]} */
    this.waiting = [];
    /** Played again and again (ns). @type {[number, number]|null} */
    this.loop = null;
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
    /** Told when playing goes over a time in which nothing happened: from, to (ns). @type {((from: number, to: number) => void)[]} */
    this.onSkip = [];
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
    return this.film?.duration ?? 0;
  }

  /** Whether there is something to play. */
  get ready() {
    return this.film !== null;
  }

  /** How many records there are. */
  get total() {
    return this.film?.length ?? 0;
  }

  /** @returns {PlayState} */
  get state() {
    if (this.playing) return "playing";
    if (this.film && this.t >= this.duration) return "following";
    return this.t > 0 && this.newest?.t === this.t ? "stepping" : "paused";
  }

  /** The newest record that has happened. @returns {Rec|null} */
  get newest() {
    return this.film?.record(this.seq) ?? null;
  }

  /** How many records have happened, if some at this very time have not; else null: `t` tells. */
  get midway() {
    return this.film?.record(this.seq + 1)?.t === this.t ? this.seq : null;
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
      const film = "run" in told ? new Whole(told) : told;
      // Tried again it is where it was; a move meanwhile says where else.
      let at = this.film ? { ...this.begin, t: this.t } : this.begin;
      const begin = this.begin;
      await film.load(Math.min(at.t, film.duration), at.seq);
      while (this.begin !== begin && at !== this.begin) {
        at = this.begin;
        await film.load(Math.min(at.t, film.duration), at.seq);
      }
      this.film = film;
      this.run = "run" in told ? told.run : null;
      this.records = "run" in told ? told.records : [];
      this.link = "open";
      const { t, seq } = at;
      this.take({ type: "hello", session: this.film.session, version: "", resumed: false });
      this.#show(Math.min(t, this.duration), seq, true);
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
    this.#go(t, null);
  }

  /** To a time of which not all has happened, as a link has it. @param {number} t ns @param {number|null} seq how many records have; null: all up to `t` */
  land(t, seq) {
    this.pause();
    this.#go(t, seq);
  }

  /** What was told of this moment is no longer so: show it anew. */
  again() {
    this.seq = Number.MAX_SAFE_INTEGER;
    this.#go(this.t, null);
  }

  /** Right after a record. @param {number} seq */
  seekTo(seq) {
    this.pause();
    const wanted = Math.max(0, Math.min(seq, this.total));
    this.#go(null, wanted);
  }

  /** One record on, or back. @param {-1|1} direction */
  step(direction) {
    this.seekTo((this.wanted?.seq ?? this.seq) + direction);
  }

  /** To the end of the next relist, or of the one before. @param {-1|1} direction @returns {boolean|Promise<boolean>} whether there is one */
  stepRelist(direction) {
    return this.#stepTo("relist", direction);
  }

  /** To the next record about a pod, or the one before. @param {string} uid @param {-1|1} direction @returns {boolean|Promise<boolean>} whether there is one */
  stepPod(uid, direction) {
    return this.#stepTo("pod", direction, uid);
  }

  /** To the next incident, or the one before. @param {-1|1} direction @returns {boolean|Promise<boolean>} whether there is one */
  stepIncident(direction) {
    return this.#stepTo("incident", direction);
  }

  toStart() {
    this.seek(0);
  }

  toEnd() {
    this.seek(this.duration);
  }

  /** @param {import("./film.js").What} what @param {-1|1} direction @param {string} [uid] @returns {boolean|Promise<boolean>} */
  #stepTo(what, direction, uid = "") {
    if (!this.film) return false;
    const there = (/** @type {number|null} */ seq) => {
      if (seq !== null) this.seekTo(seq);
      return seq !== null;
    };
    const found = this.film.find(what, this.seq, direction, uid);
    if (!(found instanceof Promise)) return there(found);
    this.searching += 1;
    // Why there is no answer is told as of a moment that cannot be had: nothing else is to be said.
    return found.then(there, (error) => this.stuck(error) ?? true).finally(() => {
      this.searching -= 1;
      this.#arrive();
    });
  }

  /** Do this where the cursor arrives, if it is on its way; else at once. @param {() => void} run */
  whenThere(run) {
    this.waiting.push(run);
    this.#arrive();
  }

  #arrive() {
    if (this.wanted || this.searching) return;
    for (const run of this.waiting.splice(0)) run();
  }

  // Playing

  /** Where playing begins if not at the cursor: a loop is played from its beginning, unless the cursor is in it; null: at the cursor. */
  get from() {
    const { loop, t } = this;
    if (loop) return t < loop[0] || t >= loop[1] ? loop[0] : null;
    return t >= this.duration && !this.growing() ? 0 : null;
  }

  /** Let time go on, from the beginning if it is at its end. @param {{rate?: number, until?: number}} [how] `until`: stop by itself at this time (ns) */
  play(how = {}) {
    if (!this.film) return;
    if (how.rate) this.setRate(how.rate);
    const { from } = this;
    if (from !== null) this.#go(from, null);
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
    // What comes next is on its way here: time waits for it.
    if (!this.film || this.wanted) return;
    const end = Math.min(this.until ?? Infinity, this.duration);
    let t = Math.min(end, this.t + passed * 1e6 * this.rate);
    // Its end is shown before it begins again: a frame may be as long as all of it.
    if (this.loop && t >= this.loop[1]) return this.#go(this.loop[this.t < this.loop[1] ? 1 : 0], null);
    const over = this.film.skip(t);
    if (over !== null && over < end && (!this.loop || over < this.loop[1])) {
      for (const call of this.onSkip) call(t, over);
      t = over;
    }
    if (t > this.t) this.#go(t, null);
    this.film.ahead(t, this.rate);
    if (t >= end && !(t < (this.until ?? Infinity) && this.growing())) this.pause();
    return undefined;
  }

  #tell() {
    for (const call of this.onState) call();
  }

  /** Show a moment, now or once its records are here. @param {number|null} t null: that of record `seq` @param {number|null} seq null: all up to `t` */
  #go(t, seq) {
    const { film } = this;
    if (!film) {
      if (t !== null) this.begin = { t, seq, asked: true };
      return;
    }
    const inside = t === null ? 0 : Math.max(0, Math.min(t, this.duration));
    const coming = film.load(inside, seq);
    const show = () => this.#show(t === null ? (seq ? film.record(seq)?.t ?? 0 : 0) : inside, seq);
    if (!coming) {
      this.wanted = null;
      show();
      this.#arrive();
      return;
    }
    const wanted = { t: inside, seq };
    this.wanted = wanted;
    const done = (/** @type {() => void} */ run) => () => {
      // Somebody may have gone on meanwhile.
      if (this.wanted !== wanted) return;
      this.wanted = null;
      run();
      this.#arrive();
    };
    coming.then(done(show), (error) => done(() => this.stuck(error))());
  }

  /** What was asked for cannot be had. @param {unknown} error */
  stuck(error) {
    this.pause();
    this.trouble = error instanceof Error ? error.message : String(error);
    this.#tell();
  }

  /** @param {number} t @param {number|null} seq null: all up to `t` @param {boolean} [fresh] */
  #show(t, seq, fresh = false) {
    if (!this.film) return;
    this.trouble = "";
    this.t = Math.max(0, Math.min(t, this.duration));
    const wanted = this.film.settle(this.t, seq);
    for (const message of this.film.messages(fresh ? null : this.seq, wanted, this.t)) {
      this.take(message.type === "snapshot" ? { ...message, rewind: !fresh } : message);
    }
    this.seq = wanted;
    for (const call of this.onCursor) call(this.t, this.seq);
  }
}

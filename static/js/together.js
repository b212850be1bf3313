// @ts-check
/**
 * Films of several nodes on one clock. A node may have been recorded sooner, or for longer, than
 * another: before its beginning and after its end nothing is known of it, and that is what is shown.
 * One steps through the records of all of them (merged.js).
 *
 * @typedef {import("./tape.js").Tape} Tape
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./film.js").Film} Film
 */
import { Axis } from "./axis.js";
import { Merged } from "./merged.js";
import { LEFT } from "./tape.js";

/** A recording that ends so shortly before another ends with it, ns. */
const TOGETHER = 1e9;

/**
 * When nothing happens on any of the nodes: what is common to all their idle stretches.
 * @param {[number, number, boolean?][][]} each of each node, in order
 * @returns {[number, number, boolean?][]} `true`: nobody recorded any of them
 */
export function commonIdle(each) {
  if (!each.length) return [];
  return each.slice(1).reduce((common, other) => {
    /** @type {[number, number, boolean?][]} */
    const found = [];
    let i = 0;
    let k = 0;
    while (i < common.length && k < other.length) {
      const from = Math.max(common[i][0], other[k][0]);
      const to = Math.min(common[i][1], other[k][1]);
      if (from < to) found.push([from, to, Boolean(common[i][2] && other[k][2])]);
      if (common[i][1] < other[k][1]) i += 1;
      else k += 1;
    }
    return found;
  }, each[0]);
}

/** When nothing is told of one node, with the time before its beginning and after its end. @param {Tape} tape @param {number} end of all @returns {[number, number, boolean?][]} */
function idleOf(tape, end) {
  const start = tape.table[0]?.[1] ?? end;
  /** @type {[number, number, boolean?][]} */
  const idle = [];
  if (start > 0) idle.push([0, start, true]);
  idle.push(...tape.told.idle);
  if (tape.duration < end) idle.push([tape.duration, end, true]);
  return idle;
}

/** One node's film on the clock of all. @implements {Film} */
export class Beside {
  /** @param {Tape} tape @param {() => number} end of all, ns */
  constructor(tape, end) {
    this.tape = tape;
    this.end = end;
  }

  get length() { return this.tape.length; }

  get duration() { return this.end(); }

  get session() { return this.tape.session; }

  get incidents() { return this.tape.incidents; }

  /** @param {number} t */
  #own(t) {
    return Math.min(t, this.tape.duration);
  }

  /** Where `t` is in a time for which this node has no records. @param {number} t @returns {import("./types.js").Unrecorded|null} */
  unrecorded(t) {
    const { tape } = this;
    const start = tape.table[0]?.[1];
    if (start === undefined) return null;
    if (t < start - TOGETHER) return { from: 0, to: start, edge: "before" };
    return tape.told.whole && t > tape.duration + TOGETHER ? { from: tape.duration, to: this.end(), edge: "after" } : null;
  }

  /** @param {number} t @param {number|null} seq */
  load(t, seq) {
    return this.tape.load(this.#own(t), seq);
  }

  /** @param {number} seq */
  record(seq) {
    return this.tape.record(seq);
  }

  /** @param {number} t @param {number|null} seq */
  settle(t, seq) {
    return this.tape.settle(this.#own(t), seq);
  }

  /** @param {number|null} from @param {number} to @param {number} t @returns {Message[]} */
  messages(from, to, t) {
    const unrecorded = this.unrecorded(t);
    return this.tape.messages(from, to, t).map((message) => (unrecorded && (message.type === "state" || message.type === "snapshot")
      ? { ...message, state: { ...message.state, unrecorded } } : message));
  }

  /** @param {import("./film.js").What} what @param {number} seq @param {-1|1} direction @param {string} uid @returns {number|null|Promise<number|null>} */
  find(what, seq, direction, uid) {
    return this.tape.find(what, seq, direction, uid);
  }

  /** @param {number} t @returns {number|null} */
  skip(t) {
    return this.tape.skip(t);
  }

  /** @param {number} t @param {number} rate */
  ahead(t, rate) {
    this.tape.ahead(this.#own(t), rate);
  }

  /** @param {number} t */
  place(t) {
    return t;
  }

  /** @param {number} place */
  time(place) {
    return place;
  }
}

/** All of them: everybody's records in one order, of which the page is told the first one's. */
export class Together extends Beside {
  /** @param {Tape[]} tapes as they are shown: the first one is the page's */
  constructor(tapes) {
    super(tapes[0], () => Math.max(...this.tapes.map((tape) => tape.duration)));
    this.tapes = tapes;
    this.merged = new Merged(tapes);
    /** Numbers of records that the page was told of last: of all nodes, and of the first. */
    this.known = { n: -1, seq: 0 };
    /** @type {[number, number, boolean?][]} */
    this.idle = [];
    this.axis = new Axis([], 1);
    this.update();
  }

  /** One of them has been read on. */
  update() {
    const end = this.duration;
    this.idle = commonIdle(this.tapes.map((tape) => idleOf(tape, end)));
    this.axis = new Axis(this.idle, end);
  }

  /** More of them has been read: of what is before the cursor, too. @param {import("./player.js").Player} player */
  async recount(player) {
    const { t } = player;
    await this.merged.ready(t);
    // Whoever goes on counts anew.
    if (player.t !== t || player.wanted || player.seq !== this.merged.place.n) return;
    const place = this.merged.recount();
    if (place) this.known.n = player.seq = place.n;
    else player.land(t, this.merged.wish?.n ?? null);
  }

  /** Of all nodes. @override */
  get length() {
    return this.merged.length;
  }

  /** @override */
  get incidents() {
    return this.tapes.reduce((all, tape) => all + tape.incidents, 0);
  }

  /** The cursor moves when all have what it shows. @override @param {number} t @param {number|null} n @returns {Promise<void>|null} */
  load(t, n) {
    return n === null ? this.merged.ready(t) : this.merged.reach(t, n);
  }

  /** @override @param {number} n */
  record(n) {
    return this.merged.record(n);
  }

  /** @override @param {number} t @param {number|null} n */
  settle(t, n) {
    return this.merged.settle(t, n).n;
  }

  /** @override @param {number|null} from @param {number} to @param {number} t @returns {Message[]} */
  messages(from, to, t) {
    const seq = this.merged.place.seqs[0];
    const known = from === this.known.n ? this.known.seq : null;
    this.known = { n: to, seq };
    return super.messages(known, seq, t);
  }

  /** Of any node; the records of a pod are the first one's. @override @param {import("./film.js").What} what @param {number} _n @param {-1|1} direction @param {string} uid */
  find(what, _n, direction, uid) {
    return this.merged.find(what === "pod" ? [0] : this.tapes.map((_, i) => i), what, direction, uid);
  }

  /** The next record of a pod of one node, or the one before: how many have happened by then. @param {Tape} tape @param {string} uid @param {-1|1} direction */
  findPod(tape, uid, direction) {
    return this.merged.find([this.tapes.indexOf(tape)], "pod", direction, uid);
  }

  /** How many records of a node have happened, where some at this very time have not; else null: the time tells. @param {Tape} tape */
  midwayOf(tape) {
    return this.merged.midway(this.tapes.indexOf(tape));
  }

  /** Whose record is the newest, and its number there. @returns {{tape: Tape, seq: number}|null} */
  newest() {
    const found = this.merged.newest(this.merged.place.seqs);
    return found && { tape: this.tapes[found.i], seq: this.merged.place.seqs[found.i] };
  }

  /** @override @param {number} t @returns {number|null} */
  skip(t) {
    const idle = this.idle.find(([from, to]) => t >= from + LEFT && t < to - LEFT);
    return idle ? idle[1] - LEFT : null;
  }

  /** @override @param {number} t @param {number} rate */
  ahead(t, rate) {
    for (const tape of this.tapes) tape.ahead(Math.min(t, tape.duration), rate);
  }

  /** @override @param {number} t */
  place(t) {
    return this.axis.place(t);
  }

  /** @override @param {number} place */
  time(place) {
    return this.axis.time(place);
  }
}

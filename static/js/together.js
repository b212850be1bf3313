// @ts-check
/**
 * Films of several nodes on one clock. A node may have been recorded sooner, or for longer, than
 * another: before its beginning and after its end nothing is known of it, and that is what is shown.
 *
 * @typedef {import("./tape.js").Tape} Tape
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./film.js").Film} Film
 */
import { Axis } from "./axis.js";
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

  /** Where `t` is in a time for which this node has no records. @param {number} t @returns {{from: number, to: number}|null} */
  unrecorded(t) {
    const { tape } = this;
    const start = tape.table[0]?.[1];
    if (start === undefined) return null;
    if (t < start - TOGETHER) return { from: 0, to: start };
    return tape.told.whole && t > tape.duration + TOGETHER ? { from: tape.duration, to: this.end() } : null;
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

/** All of them: the first one's records, and everybody's clock. */
export class Together extends Beside {
  /** @param {Tape[]} tapes the first one is stepped through */
  constructor(tapes) {
    super(tapes[0], () => Math.max(...this.tapes.map((tape) => tape.duration)));
    this.tapes = tapes;
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

  /** @override */
  get incidents() {
    return this.tapes.reduce((all, tape) => all + tape.incidents, 0);
  }

  /** The cursor moves when all have what it shows. @override @param {number} t @param {number|null} seq @returns {Promise<void>|null} */
  load(t, seq) {
    const own = super.load(t, seq);
    // When the record is, is known only once it is here.
    const others = seq === null ? this.tapes.slice(1).map((tape) => tape.load(Math.min(t, tape.duration), null)) : [];
    const coming = [own, ...others].filter((one) => one !== null);
    return coming.length ? Promise.all(coming).then(() => {}) : null;
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

/**
 * The incident after a time, or before it, whichever node it was on.
 * @param {{name: string, tape: Tape}[]} tapes @param {number} t ns @param {-1|1} direction
 * @returns {{name: string, t: number, text: string}|null}
 */
export function incidentNear(tapes, t, direction) {
  /** @type {{name: string, t: number, text: string}|null} */
  let best = null;
  for (const { name, tape } of tapes) {
    const { incidents } = tape.told;
    const found = direction > 0 ? incidents.find((one) => one.t > t) : incidents.findLast((one) => one.t < t);
    if (found && (!best || (found.t - best.t) * direction < 0)) best = { name, t: found.t, text: found.text };
  }
  return best;
}

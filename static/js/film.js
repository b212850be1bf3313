// @ts-check
/**
 * What a player plays. The player asks for moments; where the records come from is the film's
 * business: `Whole` has them all here, `Tape` (tape.js) gets them piece by piece.
 *
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {import("./types.js").Message} Message
 * @typedef {"relist"|"pod"|"incident"} What
 * @typedef {{
 *   length: number, duration: number, session: string, incidents: number,
 *   load: (t: number, seq: number|null) => Promise<void>|null,
 *   record: (seq: number) => Rec|null,
 *   settle: (t: number, seq: number|null) => number,
 *   messages: (from: number|null, to: number, t: number) => Message[],
 *   find: (what: What, seq: number, direction: -1|1, uid: string) => number|null|Promise<number|null>,
 *   skip: (t: number) => number|null, place: (t: number) => number, time: (place: number) => number,
 *   ahead: (t: number, rate: number) => void
 * }} Film
 *   `load`: have ready what a moment needs; null: it is. `record`: one that is here, by its number.
 *   `settle`: how many records have happened at `t`, `seq` of them if that can be. `messages`: what
 *   to tell a page that knows `from` records (null: another moment, or none) so that it knows `to`.
 *   `find`: number of the nearest record. `skip`: where playing goes on if nothing comes for long.
 *   `ahead`: playing will come to what follows. `place` and `time`: of the scrubber, which is short
 *   where nothing happened for long; both in ns.
 */
import { lowerBound } from "./lane.js";
import { Reel } from "./reel.js";

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

/** All records are here, as those of a run are. @implements {Film} */
export class Whole {
  /** @param {{run: {duration_ns: number}, state: any, changes: import("./reel.js").Change[], records: Rec[]}} told */
  constructor(told) {
    this.records = told.records;
    this.duration = told.run.duration_ns;
    this.session = told.state.session;
    this.reel = new Reel(told.state, told.changes, told.records);
    this.incidents = 0;
  }

  get length() {
    return this.records.length;
  }

  load() {
    return null;
  }

  /** @param {number} seq */
  record(seq) {
    return this.records[seq - 1] ?? null;
  }

  /** @param {number} t @param {number|null} seq */
  settle(t, seq) {
    const all = upTo(this.records, t);
    // Of the records at this very time some may not have happened; those before it have.
    return seq === null ? all : Math.max(lowerBound(this.records, t), Math.min(seq, all));
  }

  /** @param {number|null} from @param {number} to @param {number} t @returns {Message[]} */
  messages(from, to, t) {
    const state = this.reel.at(to, t);
    if (from === null || to < from) return [{ type: "snapshot", state, pods: [], records: this.records.slice(0, to), truncated: false, seq: to, rewind: true }];
    if (to === from) return [{ type: "state", state }];
    return [{ type: "batch", first: from + 1, last: to, records: this.records.slice(from, to) }, { type: "state", state }];
  }

  /** @param {What} what @param {number} seq @param {-1|1} direction @param {string} uid @returns {number|null} */
  find(what, seq, direction, uid) {
    const wanted = (/** @type {Rec} */ rec) => (what === "pod" ? rec.uid === uid : what === "relist" && rec.kind === "relist_finished");
    for (let at = seq + direction; at >= 1 && at <= this.records.length; at += direction) if (wanted(this.records[at - 1])) return at;
    return null;
  }

  /** @param {number} _t @returns {number|null} */
  skip(_t) {
    return null;
  }

  ahead() {}

  /** @param {number} t */
  place(t) {
    return t;
  }

  /** @param {number} place */
  time(place) {
    return place;
  }
}

// @ts-check
/**
 * A recording, piece by piece: what a page holds of it does not grow with the recording. The server
 * tells the table of pieces; a moment takes the piece it is in, and those before it as far back as
 * the window reaches.
 *
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {import("./types.js").Message} Message
 * @typedef {{seq: number, t: number, kind: string, text: string, count: number}} Incident
 * @typedef {{width: number, records: number[], early: number[], late: number[], trouble: number[], read?: number}} Overview
 * @typedef {{
 *   name: string, digest: string, title: string, node: number, origin: number, records: number,
 *   nodes?: {number: number, name: string, files: string[]}[],
 *   end_t: number, whole: boolean, read: number, warnings: string[], state: any,
 *   pieces: [number, number][], idle: [number, number, boolean?][], incidents: Incident[],
 *   incidents_total: number, overview: Overview, layout: number, known?: boolean
 * }} FilmTold see app/hub/filmwire.py
 * @typedef {{number: number, first: number, state: any, pods: any[], changes: import("./reel.js").Change[], records: Rec[]}} Piece
 * @typedef {{
 *   told: (since: number) => Promise<FilmTold>, piece: (number: number) => Promise<Piece>,
 *   find: (what: string, seq: number, back: boolean, uid: string) => Promise<number|null>,
 *   found: (what: string, seq: number, back: boolean, uid: string) => Promise<{seq: number|null, t: number|null}>,
 *   bins?: (wanted: import("./bins.js").Wanted) => Promise<import("./bins.js").Cut>
 * }} Server `found`: as `find`, and when that is
 */
import { Axis } from "./axis.js";
import { upTo } from "./film.js";
import { Reel } from "./reel.js";

/** Pieces that are kept; of 1,024 records each, at most. */
export const MOST_PIECES = 64;
/** Pieces that a moment looks back over, at most. */
const LOOK_BACK = 24;
/** Pieces fetched before playing comes to them, at most, and how long before, in ms of the viewer's. */
const AHEAD = 12;
const AHEAD_MS = 2500;
/** Of an idle stretch so much is played at either end, ns. */
export const LEFT = 2e9;

/** A film, as `film.js` describes it. */
export class Tape {
  /** @param {Server} server @param {FilmTold} told @param {() => number} [span] how far back the window reaches, ns */
  constructor(server, told, span = () => 60e9) {
    this.server = server;
    this.told = told;
    this.span = span;
    /** @type {[number, number][]} */
    this.table = [];
    /** Newest use last. @type {Map<number, Piece & {reel: Reel}>} */
    this.here = new Map();
    /** @type {Map<number, Promise<void>>} */
    this.coming = new Map();
    this.axis = new Axis(told.idle, Math.max(0, told.end_t));
    this.update(told, 0);
  }

  /** The server has read on. @param {FilmTold} told @param {number} since the first piece of its table */
  update(told, since) {
    // The file's index proved untrue: of the pieces nothing holds that was told by it.
    if (told.layout !== this.told.layout) this.here.clear();
    this.told = told;
    this.table = [...this.table.slice(0, told.layout > 1 ? 0 : since), ...told.pieces];
    this.axis = new Axis(told.idle, this.duration);
  }

  get length() {
    return this.told.records;
  }

  get duration() {
    return Math.max(0, this.told.end_t);
  }

  get session() {
    return this.told.state.session;
  }

  get incidents() {
    return this.told.incidents_total;
  }

  /** No page has all of them. @returns {Rec[]} */
  get records() {
    return [];
  }

  /** @param {number} t */
  place(t) {
    return this.axis.place(t);
  }

  /** @param {number} place */
  time(place) {
    return this.axis.time(place);
  }

  /** The piece with record `seq`. @param {number} seq */
  holding(seq) {
    return Math.max(0, last(this.table, (piece) => piece[0] <= seq));
  }

  /** The last piece that begins at `t` or before. @param {number} t */
  at(t) {
    return Math.max(0, last(this.table, (piece) => piece[1] <= t));
  }

  /** From which piece to which one a moment takes. @param {number} t @param {number|null} seq @returns {[number, number]} */
  #range(t, seq) {
    const to = seq === null ? this.at(t) : this.holding(Math.max(1, seq));
    const far = (seq === null ? t : this.table[to]?.[1] ?? t) - this.span();
    let from = to;
    while (from > 0 && to - from < LOOK_BACK && (to === from || this.table[from][1] > far)) from -= 1;
    return [from, to];
  }

  /** @param {number} t @param {number|null} seq @returns {Promise<void>|null} */
  load(t, seq) {
    if (!this.table.length) return null;
    const [from, to] = this.#range(t, seq);
    const missing = [];
    for (let number = from; number <= to; number += 1) if (!this.here.has(number)) missing.push(this.#fetch(number));
    if (!missing.length) return null;
    return Promise.all(missing).then(() => {});
  }

  /** @param {number} number */
  #fetch(number) {
    let coming = this.coming.get(number);
    if (!coming) {
      const { layout } = this.told;
      coming = this.server.piece(number).then((piece) => {
        if (layout !== this.told.layout) return;
        this.here.set(number, { ...piece, reel: new Reel(piece.state, piece.changes, piece.records, piece.first - 1) });
        while (this.here.size > MOST_PIECES) this.here.delete(this.here.keys().next().value ?? 0);
      }).finally(() => this.coming.delete(number));
      this.coming.set(number, coming);
    }
    return coming;
  }

  /** @param {number} number */
  #used(number) {
    const piece = this.here.get(number);
    if (piece) {
      this.here.delete(number);
      this.here.set(number, piece);
    }
    return piece ?? null;
  }

  /** @param {number} t @param {number} rate */
  ahead(t, rate) {
    const until = t + AHEAD_MS * 1e6 * rate;
    const now = this.at(t);
    for (let number = now + 1; number < this.table.length && number - now <= AHEAD; number += 1) {
      if (this.table[number][1] > until && number > now + 1) break;
      // Whether it comes is told when it is needed.
      if (!this.here.has(number)) this.#fetch(number).catch(() => {});
    }
  }

  /** @param {number} seq @returns {Rec|null} */
  record(seq) {
    const piece = this.here.get(this.holding(seq));
    return piece?.records[seq - piece.first] ?? null;
  }

  /** @param {number} t @param {number|null} seq */
  settle(t, seq) {
    if (!this.table.length) return 0;
    const piece = this.#used(this.at(t));
    // A record at the very end of one piece may have the time at which the next begins.
    if (!piece) return seq ?? 0;
    const all = piece.first - 1 + upTo(piece.records, t);
    if (seq === null || seq >= all) return all;
    return this.record(seq)?.t === t || this.record(seq + 1)?.t === t ? seq : all;
  }

  /** @param {number|null} from @param {number} to @param {number} t @returns {Message[]} */
  messages(from, to, t) {
    if (!this.table.length) return [{ type: "snapshot", state: { ...this.told.state, wall: this.told.origin + t }, pods: [], records: [], truncated: false, seq: 0, rewind: true }];
    const end = this.holding(Math.max(1, to));
    let begin = end;
    // Of what the window reaches back over; a piece before the one that its edge is in need not be here.
    while (begin > 0 && end - begin < LOOK_BACK && this.table[begin][1] > t - this.span() && this.here.has(begin - 1)) begin -= 1;
    const state = { ...this.here.get(end)?.reel.at(to, t) ?? this.told.state, unrecorded: this.unrecorded(t) };
    const first = this.here.get(begin)?.first ?? 1;
    // A page that knows more than the window looks back over keeps it; one that is elsewhere begins anew.
    if (from !== null && from <= to && from >= first - 1) {
      if (from === to) return [{ type: "state", state }];
      return [{ type: "batch", first: from + 1, last: to, records: this.#slice(from, to) }, { type: "state", state }];
    }
    const start = this.here.get(begin);
    return [{ type: "snapshot", state, pods: start?.pods ?? [], before: true, records: this.#slice(first - 1, to), truncated: first > 1, seq: to, rewind: true }];
  }

  /** Records after `from` and up to `to`. @param {number} from @param {number} to */
  #slice(from, to) {
    /** @type {Rec[]} */
    const records = [];
    if (to <= from) return records;
    for (let number = this.holding(from + 1); number <= this.holding(to); number += 1) {
      const piece = this.#used(number);
      if (piece) records.push(...piece.records.slice(Math.max(0, from + 1 - piece.first), to + 1 - piece.first));
    }
    return records;
  }

  /** @param {import("./film.js").What} what @param {number} seq @param {-1|1} direction @param {string} uid */
  find(what, seq, direction, uid) {
    return this.server.find(what, seq, direction < 0, uid);
  }

  /** Where `t` is in a time that nobody recorded. @param {number} t @returns {{from: number, to: number}|null} */
  unrecorded(t) {
    const idle = this.told.idle.find(([from, to, gap]) => gap && t > from && t < to);
    return idle ? { from: idle[0], to: idle[1] } : null;
  }

  /** @param {number} t @returns {number|null} */
  skip(t) {
    const idle = this.told.idle.find(([from, to]) => t >= from + LEFT && t < to - LEFT);
    return idle ? idle[1] - LEFT : null;
  }
}

/** Place of the last one for which `holds` is true, if it is so for all before; -1: for none. @template T @param {T[]} items @param {(item: T) => boolean} holds */
function last(items, holds) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(items[middle])) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

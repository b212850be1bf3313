// @ts-check
/**
 * The records of several nodes in one order: by time, and of those at the same time by the number of
 * their node, however the nodes are shown. A place in this order is how many records have happened,
 * of all nodes (`n`) and of each (`seqs`).
 *
 * @typedef {import("./tape.js").Tape} Tape
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {{n: number, t: number, seqs: number[]}} Place all records before `t` (ns) have happened, and of those at `t` the first ones
 */

/** A place is walked to from a known one that is no farther away, in records. */
const FAR = 4096;

/** @param {number[]} counts */
const sum = (counts) => counts.reduce((all, one) => all + one, 0);

export class Merged {
  /** @param {Tape[]} tapes as they are shown */
  constructor(tapes) {
    this.tapes = tapes;
    /** Indexes of the tapes, as records at the same time follow one another. */
    this.order = tapes.map((_, i) => i).sort((a, b) => tapes[a].told.node - tapes[b].told.node || a - b);
    /** What is shown. @type {Place} */
    this.place = { n: 0, t: 0, seqs: tapes.map(() => 0) };
    /** What is gone to. @type {Place|null} */
    this.aim = null;
    /** What a link says of the place that is shown: it counts what may not have been read yet. @type {{t: number, n: number}|null} */
    this.wish = null;
  }

  get length() {
    return sum(this.tapes.map((tape) => tape.length));
  }

  /** Have ready what all nodes need for a time. @param {number} t @returns {Promise<void>|null} */
  ready(t) {
    const coming = this.tapes.map((tape) => tape.load(Math.min(t, tape.duration), null)).filter((one) => one !== null);
    return coming.length ? Promise.all(coming).then(() => {}) : null;
  }

  /** Of each node, how many records are not after `t`. @param {number} t */
  #upTo(t) {
    return this.tapes.map((tape) => tape.settle(Math.min(t, tape.duration), null));
  }

  /** Of one node, how many are before `t`. @param {number} i @param {number} t @param {number} all how many are not after it */
  #before(i, t, all) {
    let seq = all;
    while (seq > 0 && this.tapes[i].record(seq)?.t === t) seq -= 1;
    return seq;
  }

  /** The place at a time with `n` records, if that can be. @param {number} t @param {number|null} n null: all up to `t` @returns {Place} */
  at(t, n) {
    const all = this.#upTo(t);
    const most = sum(all);
    if (n === null || n >= most) return { n: most, t, seqs: all };
    const seqs = all.map((count, i) => this.#before(i, t, count));
    let rest = Math.max(0, n - sum(seqs));
    for (const i of this.order) {
      const taken = Math.min(rest, all[i] - seqs[i]);
      seqs[i] += taken;
      rest -= taken;
    }
    return { n: sum(seqs), t, seqs };
  }

  /** Show a place. @param {number} t @param {number|null} n */
  settle(t, n) {
    if (this.wish?.t !== t || this.wish.n !== n) this.wish = null;
    this.place = this.at(t, n);
    return this.place;
  }

  /** Have ready what a number of records needs, at `t` if that is more than 0. @param {number} t @param {number} n */
  async reach(t, n) {
    let place = t > 0 ? null : await this.#walk(n);
    if (!place) {
      await this.ready(t);
      place = this.at(t, n);
    }
    const { seqs } = place;
    await this.ready(place.t);
    await Promise.all(this.tapes.map((tape, i) => tape.load(Math.min(/** @type {Place} */ (place).t, tape.duration), seqs[i])));
    this.aim = place;
    if (t > 0) this.wish = { t, n };
  }

  /** From a place that is known, record by record; null: none is near. @param {number} n @returns {Promise<Place|null>} */
  async #walk(n) {
    const [from] = [this.place, this.aim].filter((one) => one !== null).sort((a, b) => Math.abs(a.n - n) - Math.abs(b.n - n));
    if (n === 0 || Math.abs(from.n - n) > FAR) return null;
    const seqs = [...from.seqs];
    let at = from.n;
    while (at !== n) {
      const missing = at < n ? this.#forth(seqs) : this.#back(seqs);
      if (missing === null) break;
      if (missing.length) await Promise.all(missing.map(({ i, seq }) => this.tapes[i].load(0, seq)));
      else at += at < n ? 1 : -1;
    }
    while (this.newest(seqs) === null && sum(seqs)) await Promise.all(seqs.map((seq, i) => (seq ? this.tapes[i].load(0, seq) : null)));
    return { n: at, t: this.newest(seqs)?.rec.t ?? 0, seqs };
  }

  /** The next record has happened, too. @param {number[]} seqs changed @returns {{i: number, seq: number}[]|null} what is not here yet; null: there is none */
  #forth(seqs) {
    const next = this.next(seqs);
    if (!next) return null;
    if (!next.rec) return [{ i: next.i, seq: seqs[next.i] + 1 }];
    seqs[next.i] += 1;
    return [];
  }

  /** The newest record has not happened. @param {number[]} seqs changed @returns {{i: number, seq: number}[]|null} */
  #back(seqs) {
    if (!sum(seqs)) return null;
    const newest = this.newest(seqs);
    if (!newest) return seqs.flatMap((seq, i) => (seq && !this.tapes[i].record(seq) ? [{ i, seq }] : []));
    seqs[newest.i] -= 1;
    return [];
  }

  /** Whose record comes next; `rec` null: it is not here. @param {number[]} seqs @returns {{i: number, t: number, rec: Rec|null}|null} */
  next(seqs) {
    /** @type {{i: number, t: number, rec: Rec|null}|null} */
    let best = null;
    for (const i of this.order) {
      const tape = this.tapes[i];
      if (seqs[i] >= tape.length || !tape.table.length) continue;
      const rec = tape.record(seqs[i] + 1);
      // Before the time at which its piece begins it is not.
      const t = rec ? rec.t : tape.table[tape.holding(seqs[i] + 1)][1];
      if (!best || t < best.t) best = { i, t, rec };
    }
    return best;
  }

  /** The newest record; null: there is none, or one of those that it may be is not here. @param {number[]} seqs @returns {{i: number, rec: Rec}|null} */
  newest(seqs) {
    /** @type {{i: number, rec: Rec}|null} */
    let best = null;
    for (const i of this.order) {
      if (!seqs[i]) continue;
      const rec = this.tapes[i].record(seqs[i]);
      if (!rec) return null;
      if (!best || rec.t >= best.rec.t) best = { i, rec };
    }
    return best;
  }

  /** Record number `n`, where the cursor is, comes next, or is gone to. @param {number} n @returns {Rec|null} */
  record(n) {
    const { place, aim } = this;
    if (n === place.n) return this.newest(place.seqs)?.rec ?? null;
    if (n === place.n + 1) return this.next(place.seqs)?.rec ?? null;
    return n === aim?.n ? this.newest(aim.seqs)?.rec ?? null : null;
  }

  /**
   * The nearest of some nodes' records of a kind.
   * @param {number[]} among indexes of tapes @param {import("./film.js").What} what @param {-1|1} direction @param {string} uid
   * @returns {Promise<number|null>} how many records have happened by then
   */
  async find(among, what, direction, uid) {
    const { seqs } = this.place;
    const newest = this.newest(seqs)?.i ?? -1;
    const found = await Promise.all(among.map(async (i) => {
      // What happened last on the node at the cursor is where one is; on any other it may be what comes before.
      const from = direction < 0 && i !== newest ? seqs[i] + 1 : seqs[i];
      const { seq, t } = await this.tapes[i].server.found(what, from, direction < 0, uid);
      return { i, seq, t: t ?? 0, rank: this.order.indexOf(i) };
    }));
    const [best] = found.filter((one) => one.seq !== null).sort((a, b) => direction * (a.t - b.t || a.rank - b.rank));
    return best ? this.#after(best.i, /** @type {number} */ (best.seq)) : null;
  }

  /** Right after a record of one node. @param {number} i @param {number} seq */
  async #after(i, seq) {
    await this.tapes[i].load(0, seq);
    const t = this.tapes[i].record(seq)?.t ?? 0;
    await this.ready(t);
    const all = this.#upTo(t);
    const rank = this.order.indexOf(i);
    const seqs = all.map((count, k) => (k === i ? seq : this.order.indexOf(k) < rank ? count : this.#before(k, t, count)));
    this.aim = { n: sum(seqs), t, seqs };
    return this.aim.n;
  }

  /** How many records of one node have happened, where some at this very time have not. @param {number} i @returns {number|null} */
  midway(i) {
    const { t, seqs } = this.place;
    return this.tapes[i].record(seqs[i] + 1)?.t === t ? seqs[i] : null;
  }

  /** More has been read: what was counted is counted anew. @returns {Place|null} null: the place is another one, as a link said it */
  recount() {
    const { t, seqs } = this.place;
    if (this.wish) return String(this.at(t, this.wish.n).seqs) === String(seqs) ? this.place : null;
    const all = this.#upTo(t);
    const now = seqs.map((_, i) => this.midway(i) ?? all[i]);
    this.place = { n: sum(now), t, seqs: now };
    return this.place;
  }
}

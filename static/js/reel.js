// @ts-check
/**
 * The header's state at every moment of a run: the state before its first record, and what each
 * record changed. Any moment is told at once: every so many records the state is kept.
 *
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {import("./types.js").SessionState} SessionState
 * @typedef {[number, Record<string, any>]} Change number of the record, new values by field; see
 *   `Change` in app/hub/runwire.py
 */

/** Records between two states that are kept. */
const EVERY = 256;

export class Reel {
  /**
   * @param {SessionState} first @param {Change[]} changes in order
   * @param {Rec[]} records numbered from `base` + 1 @param {number} [base]
   */
  constructor(first, changes, records, base = 0) {
    this.base = base;
    this.records = records;
    this.changes = changes;
    /** `kept[i]` is as it was after record `base + i * EVERY`; `next`: the first change after it. */
    this.kept = [{ engine: first.engine, faults: first.faults ?? [], oldest: first.oldest_call ?? null, next: 0 }];
    this.first = first;
    /** Numbers of the records that say who the runtime is. @type {Rec[]} */
    this.runtimes = records.filter((rec) => rec.kind === "runtime");
  }

  /** As it was after record `seq` (`base`: before the first), for a page at time `t`. @param {number} seq @param {number} t @returns {SessionState} */
  at(seq, t) {
    const wanted = Math.max(0, Math.floor((seq - this.base) / EVERY));
    while (this.kept.length <= wanted) this.kept.push(this.#forward(this.kept[this.kept.length - 1], this.base + this.kept.length * EVERY));
    const { engine, faults, oldest } = this.#forward(this.kept[wanted], seq);
    const runtime = this.runtimes.findLast((rec) => rec.seq <= seq) ?? this.first.runtime ?? null;
    return { ...this.first, engine: { ...engine, t }, faults, runtime, oldest_call: oldest, wall: this.first.wall + t, last_seq: seq };
  }

  /** @param {{engine: any, faults: any[], oldest: any, next: number}} from @param {number} seq */
  #forward(from, seq) {
    let { engine, faults, oldest, next } = from;
    if (next < this.changes.length && this.changes[next][0] <= seq) engine = { ...engine };
    for (; next < this.changes.length && this.changes[next][0] <= seq; next += 1) {
      for (const [name, value] of Object.entries(this.changes[next][1])) {
        const [field, key] = name.split(".");
        if (name === "faults") faults = value;
        else if (name === "oldest_call") oldest = value;
        else engine[field] = key === undefined ? value : { ...engine[field], [key]: value };
      }
    }
    return { engine, faults, oldest, next };
  }
}

// @ts-check
/**
 * A node all of whose records are here, as a tape beside others (together.js): nothing is fetched,
 * nothing is to be waited for.
 *
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./player.js").RunRecords & {name: string, incidents: number}} NodeRecords
 */
import { Whole } from "./film.js";

export class WholeTape {
  /** @param {NodeRecords} node @param {number} number @param {{number: number, name: string, files: string[]}[]} nodes all of them */
  constructor(node, number, nodes) {
    const film = new Whole(node);
    this.film = film;
    const { records, duration } = film;
    /** @type {[number, number][]} */
    this.table = records.length ? [[1, records[0].t]] : [];
    this.told = /** @type {import("./tape.js").FilmTold} */ (/** @type {unknown} */ ({
      name: node.name, node: number, nodes, state: node.state, digest: "", title: node.name, records: records.length, end_t: duration,
      whole: true, known: true, read: 1, layout: 1, warnings: [], idle: [], incidents: [], incidents_total: node.incidents,
    }));
    this.server = {
      found: async (/** @type {any} */ what, /** @type {number} */ seq, /** @type {boolean} */ back, /** @type {string} */ uid) => {
        const found = film.find(what, seq, back ? -1 : 1, uid);
        return { seq: found, t: found === null ? null : records[found - 1].t };
      },
    };
  }

  get length() { return this.film.length; }

  get duration() { return this.film.duration; }

  get session() { return this.film.session; }

  get incidents() { return this.told.incidents_total; }

  load() { return null; }

  holding() { return 0; }

  at() { return 0; }

  /** @param {number} seq */
  record(seq) { return this.film.record(seq); }

  /** @param {number} t @param {number|null} seq */
  settle(t, seq) { return this.film.settle(t, seq); }

  /** @param {number|null} from @param {number} to @param {number} t @returns {Message[]} */
  messages(from, to, t) { return this.film.messages(from, to, t); }

  /** @param {import("./film.js").What} what @param {number} seq @param {-1|1} direction @param {string} uid */
  find(what, seq, direction, uid) { return this.film.find(what, seq, direction, uid); }

  /** @returns {number|null} */
  skip() { return null; }

  ahead() {}

  /** @param {number} t */
  place(t) { return t; }

  /** @param {number} place */
  time(place) { return place; }
}

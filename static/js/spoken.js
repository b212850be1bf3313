// @ts-check
/**
 * What those who hear the page are told, and how seldom. A state that changed is told soon, with what
 * it means; that containers stopped, once a minute at most: a node where something dies every second
 * would never let anybody finish a sentence.
 *
 * @typedef {{id: string, waits?: boolean, state: string, stops: string, newest: number|null}} Heard
 *   `id` and `waits`: as of the condition; `state`: it in words; `stops`: of the last minute, in words;
 *   `newest`: the newest finding, by its number.
 */

/** States that alternate are told so often at most, ms. */
const STATES_EVERY = 10_000;
const STOPS_EVERY = 60_000;

export class Spoken {
  constructor() {
    this.id = "";
    this.stateAt = -Infinity;
    /** @type {number|null} */
    this.newest = null;
    this.stopsAt = -Infinity;
    /** Somebody asked to try at once, and has not been told what came of it. */
    this.asked = false;
  }

  /** What to say now; null: nothing. @param {Heard} heard @param {number} time ms @returns {string|null} */
  next(heard, time) {
    const { id, waits, state, stops, newest } = heard;
    if (this.asked && (waits === undefined || waits)) {
      this.asked = false;
      this.#told(heard, time);
      return waits === undefined ? `Connected again. ${state} ${stops}` : `No answer yet. ${state}`;
    }
    if (id !== this.id && time - this.stateAt >= STATES_EVERY) {
      const first = this.id === "";
      this.#told(heard, time);
      return first ? `${state} ${stops}` : state;
    }
    // The ticking seconds of a state are no news.
    if (newest === this.newest || time - this.stopsAt < STOPS_EVERY) return null;
    this.newest = newest;
    this.stopsAt = time;
    return stops;
  }

  /** @param {Heard} heard @param {number} time */
  #told({ id, newest }, time) {
    this.id = id;
    this.stateAt = time;
    this.newest = newest;
    this.stopsAt = time;
  }
}

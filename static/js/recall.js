// @ts-check
/**
 * Older records, when the reader looks so closely at the past that bins would hide what they are:
 * asked for from the oldest one here backwards, as long as the server still has them.
 *
 * @typedef {import("./types.js").Rec} Rec
 * @typedef {{session: string, records: Rec[]}} Page
 */

/** Records asked for at once. */
const PAGE = 8000;
/** No fewer of heavy ones: a page is bounded by what it weighs, too. */
const LEAST = 250;
const PAUSE_MS = 50;
const SORRY_MS = 3000;

export class Recall {
  busy = false;
  notBefore = 0;
  page = PAGE;

  /**
   * @param {{
   *   store: import("./store.js").Store, ask: (since: number, limit: number) => Promise<Page>, changed: () => void,
   *   setTimer?: (callback: () => void, ms: number) => any, clock?: () => number
   * }} options `ask`: the records numbered above `since`. `clock`: ms
   */
  constructor(options) {
    this.options = options;
    this.setTimer = options.setTimer ?? ((callback, ms) => setTimeout(callback, ms));
    this.clock = options.clock ?? (() => performance.now());
  }

  /** How many older records could still be had. */
  get left() {
    const { store } = this.options;
    const first = store.records[0]?.seq ?? 0;
    return Math.min(first - (store.state?.first_seq ?? first), store.capacity - store.records.length);
  }

  /** Fetch some, unless that is being done or there are none. */
  want() {
    const { store, ask, changed } = this.options;
    const { left } = this;
    if (this.busy || left <= 0 || this.clock() < this.notBefore) return;
    this.busy = true;
    const first = store.records[0].seq;
    const limit = Math.min(this.page, left);
    const again = (/** @type {number} */ ms) => {
      this.busy = false;
      this.notBefore = this.clock() + ms;
      this.setTimer(changed, ms + 1);
    };
    ask(first - 1 - limit, limit).then(({ session, records }) => {
      const last = records[records.length - 1];
      if (session !== store.session || store.records[0]?.seq !== first) return again(PAUSE_MS);
      if (last?.seq !== first - 1) {
        // They were too heavy for one answer, or the server has just given them up.
        this.page = Math.max(LEAST, this.page >> 1);
        return again(this.page === LEAST ? SORRY_MS : PAUSE_MS);
      }
      store.prepend(records);
      return again(PAUSE_MS);
    }, () => again(SORRY_MS));
  }
}

/** Asks the server. @param {string} address @returns {(since: number, limit: number) => Promise<Page>} */
export function recalling(address) {
  return async (since, limit) => {
    const answer = await fetch(`${address}?since=${since}&limit=${limit}`, { signal: AbortSignal.timeout(15_000) });
    if (!answer.ok) throw new Error(`records: ${answer.status}`);
    return answer.json();
  };
}

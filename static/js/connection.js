// @ts-check
/**
 * The WebSocket: opened again whenever it ends, with growing pauses, for ever.
 *
 * Link states: "connecting" (never heard yet), "open", "waiting" (a pause before the next try, and
 * that try until it is greeted).
 * A server that says nothing for SILENCE_MS is taken for gone: it sends its state twice a second.
 */
/** @typedef {import("./types.js").Message} Message */
/** @typedef {"connecting"|"open"|"waiting"} Link */

const FIRST_MS = 250;
const CAP_MS = 8000;
const SILENCE_MS = 10_000;

/** Pause before try number `attempt` (from 0), between half and whole. @param {number} attempt @param {number} random from 0 to 1 */
export function backoff(attempt, random) {
  return Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(attempt, 10)) * (0.5 + random / 2);
}

export class Connection {
  /**
   * @param {{
   *   url: () => string,
   *   onMessage: (message: Message) => void,
   *   onLink: (link: Link) => void,
   *   open?: (url: string) => WebSocket,
   *   setTimer?: (callback: () => void, ms: number) => any,
   *   clearTimer?: (timer: any) => void,
   *   random?: () => number,
   *   clock?: () => number,
   *   barred?: () => Promise<boolean>,
   * }} options `url` is asked anew for each try, so that it can say what to resume from; `clock`: ms;
   *   `barred`: whether the server is there, but lets this page in no more
   */
  constructor(options) {
    this.options = options;
    this.open = options.open ?? ((url) => new WebSocket(url));
    this.setTimer = options.setTimer ?? ((callback, ms) => setTimeout(callback, ms));
    this.clearTimer = options.clearTimer ?? ((timer) => clearTimeout(timer));
    this.random = options.random ?? Math.random;
    this.clock = options.clock ?? (() => performance.now());
    /** @type {WebSocket|null} */
    this.socket = null;
    this.attempt = 0;
    /** @type {any} */
    this.timer = null;
    /** When the pause ends, by `clock`; null: none goes on. @type {number|null} */
    this.due = null;
    /** @type {any} */
    this.watchdog = null;
    /** @type {Link} */
    this.link = "connecting";
    /** Why the server said goodbye, if it did. */
    this.farewell = "";
    /** The server answers, but wants another token than this page has. */
    this.barred = false;
  }

  start() {
    this.#connect();
  }

  /** How long until the next try, ms; null: one is under way, or none is needed. @returns {number|null} */
  nextTry() {
    return this.due === null ? null : Math.max(0, this.due - this.clock());
  }

  /**
   * Try at once instead of waiting (the browser is back online, the page is visible again).
   * @param {boolean} [insist] somebody asked for it: what is open or under way and says nothing is given up
   */
  hurry(insist = false) {
    if (insist && this.socket) this.#drop();
    // A try that is under way is as quick as another one would be.
    if (this.due === null) return;
    this.attempt = 0;
    this.clearTimer(this.timer);
    this.#connect();
  }

  #connect() {
    this.due = null;
    let socket;
    try {
      socket = this.open(this.options.url());
    } catch {
      this.#later();
      return;
    }
    this.socket = socket;
    this.#watch();
    socket.onmessage = (event) => {
      if (socket !== this.socket) return;
      this.#watch();
      /** @type {Message} */
      let message;
      try {
        message = JSON.parse(event.data);
      } catch {
        socket.close();
        return;
      }
      if (message.type === "bye") this.farewell = message.reason;
      if (message.type === "hello") {
        this.attempt = 0;
        this.farewell = "";
        this.barred = false;
        this.#say("open");
      }
      this.options.onMessage(message);
    };
    socket.onclose = () => {
      if (socket !== this.socket) return;
      const met = this.link === "open";
      this.#later();
      // A browser does not tell a page why it was not let in.
      if (!met) void this.#ask();
    };
  }

  async #ask() {
    const barred = (await this.options.barred?.()) ?? false;
    if (this.link !== "open") this.barred = barred;
  }

  #watch() {
    this.clearTimer(this.watchdog);
    this.watchdog = this.setTimer(() => this.#drop(), SILENCE_MS);
  }

  #drop() {
    // Not waiting for the closing handshake: a dead peer never answers it.
    const { socket } = this;
    this.#later();
    socket?.close();
  }

  #later() {
    this.socket = null;
    this.clearTimer(this.watchdog);
    this.clearTimer(this.timer);
    const pause = backoff(this.attempt, this.random());
    this.due = this.clock() + pause;
    this.timer = this.setTimer(() => this.#connect(), pause);
    this.attempt += 1;
    this.#say("waiting");
  }

  /** @param {Link} link */
  #say(link) {
    if (link === this.link) return;
    this.link = link;
    this.options.onLink(link);
  }
}

// @ts-check
/**
 * The page of the faults, by itself: what is at work, also what others press or lift, and the time
 * that is left of it.
 *
 * @typedef {import("./types.js").FaultAtWork} FaultAtWork
 * @typedef {{t: number, at_work: FaultAtWork[]}} Report `t`: the session's time then, ns
 */
import { byId, hasChildren, setText } from "./dom.js";
import { light, showWorking } from "./faults.js";

/** How often the time that is left is written, and how often the server is asked, ms. */
const EVERY = 250;
const ASK_EVERY = 2000;
const PATIENCE = 5000;

/** Which of them go on, and the node's time. @param {Report} report @param {number} passed ns of the node's since then @returns {[FaultAtWork[], number]} */
export function going({ t, at_work: faults }, passed) {
  const now = t + passed;
  return [faults.filter((one) => one.until_t === null || one.until_t > now), now];
}

/** Follows the server, as long as somebody looks. */
class Following {
  /** @type {Report|null} */
  report = null;
  /** When the newest answer came, ms. */
  at = 0;
  list = byId("palette-working");
  speed = Number(this.list.dataset.speed);

  constructor() {
    const numbers = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll("[data-number]")]).map((one) => one.dataset.number);
    hasChildren(this.list, numbers.join());
    setInterval(() => this.show(), EVERY);
    setInterval(() => void this.ask(), ASK_EVERY);
    void this.ask();
  }

  async ask() {
    if (document.hidden) return;
    try {
      const answer = await fetch("/api/v1/faults", { signal: AbortSignal.timeout(PATIENCE) });
      if (!answer.ok) throw new Error(String(answer.status));
      this.report = await answer.json();
      this.at = performance.now();
      setText(byId("palette-heard"), "");
    } catch {
      // A page that is left gives up its question too; whoever stays is told.
      setText(byId("palette-heard"), "plegscope does not answer: what is shown may be over. Load this page again when it is back.");
    }
    this.show();
  }

  show() {
    if (!this.report) return;
    const [faults, now] = going(this.report, (performance.now() - this.at) * 1e6 * this.speed);
    showWorking("palette-working", faults, now);
    light(faults, now);
  }
}

if (typeof document !== "undefined") new Following();

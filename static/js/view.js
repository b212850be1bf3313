// @ts-check
/** The window onto time: how much of it, and whether it follows the present. All in ns. */

export const SHORTEST = 2e6;
export const LONGEST = 2 * 3600e9;
/** Room to the right of the present, as a share of the span. */
const LEAD = 0.014;
/** How far the window jumps at once where motion is not wanted, as a share of the span. */
const STEP = 0.2;

/** At first no less than this of a run is shown, ns. */
const SHORTEST_FIRST = 1e9;

/** How much time a run's page shows at first: all of a short one. @param {number} duration ns @param {number} usual ns */
export function firstSpan(duration, usual) {
  return duration > 0 ? Math.min(usual, Math.max(SHORTEST_FIRST, duration * 1.03)) : usual;
}

export class View {
  constructor() {
    this.span = 60e9;
    /** Right edge, or null while it follows the present. @type {number|null} */
    this.end = null;
    /** Move in steps instead of gliding: the reader's system asks for less motion. */
    this.stepped = false;
    /** What was shown before the window closed in on something: the present needs that much again. @type {{before: number, span: number}|null} */
    this.closed = null;
  }

  get following() {
    return this.end === null;
  }

  /** @param {number} now @returns {[number, number]} from, to */
  window(now) {
    const end = this.end ?? this.#present(now);
    return [end - this.span, end];
  }

  follow() {
    this.end = null;
    if (this.closed?.span === this.span) this.span = this.closed.before;
    this.closed = null;
  }

  /** @param {number} now */
  pause(now) {
    this.end ??= this.#present(now);
  }

  /** Right edge while following. @param {number} now */
  #present(now) {
    const lead = now + this.span * LEAD;
    const step = this.span * STEP;
    return this.stepped ? Math.ceil(lead / step) * step : lead;
  }

  /**
   * Show more or less time. The moment `at` stays where it is; while following, the present does.
   * @param {number} factor above 1: more time in view @param {number} now @param {number|null} at
   */
  zoom(factor, now, at = null) {
    const span = Math.min(LONGEST, Math.max(SHORTEST, this.span * factor));
    if (this.end !== null) {
      const fixed = at ?? this.end - this.span / 2;
      this.end = fixed + (this.end - fixed) * (span / this.span);
    } else if (at !== null && now - at > this.span * 0.15) {
      // Zooming in on the past stops following: else the moment would slide away.
      const [, end] = this.window(now);
      this.end = at + (end - at) * (span / this.span);
    }
    this.span = span;
    this.#clamp(now);
  }

  /** @param {number} dt ns; positive goes towards the present @param {number} now */
  pan(dt, now) {
    const [, end] = this.window(now);
    this.end = end + dt;
    this.#clamp(now);
  }

  /** Show from `from` to `to`, with room around. @param {number} from @param {number} to @param {number} now */
  show(from, to, now) {
    const before = this.closed?.span === this.span ? this.closed.before : this.span;
    this.span = Math.min(LONGEST, Math.max(20e6, (to - from) * 3));
    this.closed = this.span < before ? { before, span: this.span } : null;
    this.end = (from + to) / 2 + this.span / 2;
    this.#clamp(now);
  }

  /** Bring a moment into view without another span. @param {number} t @param {number} now */
  reveal(t, now) {
    const [from, to] = this.window(now);
    if (t >= from + this.span * 0.02 && t <= to - this.span * 0.02) return;
    this.end = t + this.span * 0.5;
    this.#clamp(now);
  }

  /** Never more than a lead ahead of the present. @param {number} now */
  #clamp(now) {
    if (this.end !== null) this.end = Math.min(this.end, now + this.span * 0.5);
  }
}

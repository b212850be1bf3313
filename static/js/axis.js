// @ts-check
/**
 * Time as the scrubber has it: stretches in which nothing was recorded are short, so that the rest
 * can be told apart; they are drawn as breaks. All in ns.
 */

/** What a long idle stretch is shown as: so long, or this share of all the others. */
const SHORT = 4e9;
const SHARE = 0.015;

export class Axis {
  /** @param {[number, number, boolean?][]} idle from, to; in order @param {number} duration */
  constructor(idle, duration) {
    const inside = idle.filter(([from, to]) => to > from && from >= 0 && to <= duration);
    const busy = duration - inside.reduce((sum, [from, to]) => sum + to - from, 0);
    const short = Math.max(SHORT, busy * SHARE);
    /** Times and places where the scale changes; between two it is even. @type {[number, number][]} */
    this.knots = [[0, 0]];
    /** Stretches that are shown shorter than they are, as places. @type {[number, number][]} */
    this.breaks = [];
    let t = 0;
    let place = 0;
    for (const [from, to] of inside) {
      if (to - from <= short) continue;
      place += from - t;
      this.knots.push([from, place], [to, place + short]);
      this.breaks.push([place, place + short]);
      place += short;
      t = to;
    }
    this.length = place + duration - t;
    this.knots.push([duration, this.length]);
  }

  /** @param {number} t */
  place(t) {
    return convert(this.knots, t, 0, 1);
  }

  /** @param {number} place */
  time(place) {
    return convert(this.knots, place, 1, 0);
  }
}

/** @param {[number, number][]} knots @param {number} value @param {0|1} from @param {0|1} to */
function convert(knots, value, from, to) {
  const at = Math.max(1, knots.findIndex((knot) => knot[from] >= value));
  const [one, other] = knots[knots.length - 1][from] < value ? knots.slice(-2) : [knots[at - 1], knots[at]];
  const wide = other[from] - one[from];
  return wide ? one[to] + ((value - one[from]) / wide) * (other[to] - one[to]) : one[to];
}

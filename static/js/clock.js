// @ts-check
/**
 * The server's monotonic time, as this page knows it between messages.
 *
 * A message is never early, only late: of all samples the one that puts the server's clock
 * furthest ahead had the least delay. So the offset follows upwards at once and falls slowly
 * (50 µs per second), which is more than the clocks of two machines drift apart.
 */
const FALL = 50e-6;

export class Clock {
  /** @param {() => number} mono milliseconds, monotonic */
  constructor(mono = () => performance.now()) {
    this.mono = mono;
    /** Server ns minus local ns (times `speed`); null before the first message. @type {number|null} */
    this.offset = null;
    this.sampled = 0;
    /** wall ns minus t ns */
    this.wallOffset = 0;
    /** Local ns of the last message. */
    this.heardAt = 0;
    /** Newest t heard. */
    this.heardT = 0;
    /** A recording's time stands still at its end. */
    this.still = false;
    /** How many times as fast as real time the server's time goes: of a simulated node. */
    this.speed = 1;
  }

  local() {
    return this.mono() * 1e6;
  }

  /** Forget another session's time. */
  reset() {
    this.offset = null;
    this.heardT = 0;
  }

  /** The server says how fast its time goes. @param {number} speed */
  setSpeed(speed) {
    if (speed === this.speed) return;
    this.speed = speed;
    this.offset = null;
  }

  /** A message came that says it is `t` (and `wall`) now. @param {number} t @param {number} wall */
  heard(t, wall) {
    const passed = this.local() * this.speed;
    const sample = t - passed;
    if (this.offset === null) this.offset = sample;
    else this.offset = Math.max(this.offset - (passed - this.sampled) * FALL, sample);
    this.sampled = passed;
    this.heardAt = this.local();
    if (t >= this.heardT) {
      this.heardT = t;
      this.wallOffset = wall - t;
    }
  }

  /** A sign of life without a time in it. */
  alive() {
    this.heardAt = this.local();
  }

  /** The server's time now, ns. */
  now() {
    if (this.still) return this.heardT;
    return this.offset === null ? 0 : this.local() * this.speed + this.offset;
  }

  /** The server's time when it was last heard of, ns. */
  lastHeard() {
    return this.now() - this.silence() * this.speed;
  }

  /** How long nothing was heard, in real ns. */
  silence() {
    return this.local() - this.heardAt;
  }

  /** @param {number} t */
  wall(t) {
    return t + this.wallOffset;
  }
}

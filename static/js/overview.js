// @ts-check
/**
 * The whole recording above its scrubber: how much happened when (amber on top: stops that only
 * polling found), when the health check failed and the stream was down, incidents, markers, the
 * loop, and breaks where nothing was recorded; of several nodes a strip each. A press goes there, a
 * drag loops what it goes over, and the loop's ends can be taken and moved. What it shows is also
 * told in words, and done by keys.
 *
 * @typedef {import("./tape.js").Tape} Tape
 * @typedef {{axis: import("./axis.js").Axis}} Ruled what has the scrubber's axis
 */
import { onPaletteChange, readPalette } from "./palette.js";

const STRIP = 3;
const TICK = 5;
/** Movement that makes a press a drag, px; how near an end of the loop has to be taken. */
const SLACK = 4;
const GRIP = 7;
/** A loop is no shorter, ns. */
const SHORTEST_LOOP = 10e6;

/**
 * What a drag makes: the loop it goes over, or null while it is but a press.
 * @param {number} from px @param {number} to px @param {(x: number) => number} time ns of a place
 * @returns {[number, number]|null}
 */
export function dragged(from, to, time) {
  if (Math.abs(to - from) < SLACK) return null;
  const ends = [time(from), time(to)].sort((a, b) => a - b);
  return [ends[0], Math.max(ends[1], ends[0] + SHORTEST_LOOP)];
}

/** Which end of a loop is at `x`; the later one where both are. @param {[number, number]|null} loop px @param {number} x @returns {0|1|null} */
export function gripAt(loop, x) {
  if (!loop) return null;
  if (Math.abs(x - loop[1]) <= GRIP) return 1;
  return Math.abs(x - loop[0]) <= GRIP ? 0 : null;
}

/**
 * Bins of the overview as columns of the picture: for each column the records, and ends of containers
 * found early and late, that lie in it, what was the matter, and whether anything is known of it: of
 * several nodes one may have been recorded sooner, or for longer, than another. Only what is `looked`
 * at has been read through; of the rest there are but records.
 * @param {import("./tape.js").Overview} overview @param {(t: number) => number} x of a time, in columns @param {number} columns
 */
export function columnsOf(overview, x, columns) {
  const records = new Float64Array(columns);
  const early = new Float64Array(columns);
  const late = new Float64Array(columns);
  const trouble = new Uint8Array(columns);
  const known = new Uint8Array(columns);
  const looked = new Uint8Array(columns);
  const read = overview.read ?? Infinity;
  const first = overview.records.findIndex((count) => count > 0);
  overview.records.forEach((count, i) => {
    if (i < first) return;
    const from = Math.max(0, Math.min(columns - 1, Math.floor(x(i * overview.width))));
    const to = Math.max(from, Math.min(columns - 1, Math.ceil(x((i + 1) * overview.width)) - 1));
    const share = 1 / (to - from + 1);
    for (let column = from; column <= to; column += 1) {
      records[column] += count * share;
      early[column] += overview.early[i] * share;
      late[column] += overview.late[i] * share;
      trouble[column] |= overview.trouble[i];
      known[column] = 1;
      if (i < read) looked[column] = 1;
    }
  });
  return { records, early, late, trouble, known, looked };
}

export class OverviewStrip {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{tapes: () => {name: string, tape: Tape}[], film: () => Ruled|null, t: () => number,
   *   loop: () => [number, number]|null, markers: () => {t: number}[], seek: (t: number) => void,
   *   setLoop: (loop: [number, number]) => void}} host
   *   `tapes`: of each node, the first one first. `film`: has the axis that they share.
   */
  constructor(canvas, host) {
    this.canvas = canvas;
    this.host = host;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.palette = readPalette();
    this.key = "";
    /** While somebody drags: the loop that would be. @type {[number, number]|null} */
    this.draft = null;
    /** Where the drag began, px, or which end of the loop was taken. @type {{x: number, end: 0|1|null, loop: [number, number]|null}|null} */
    this.held = null;
    onPaletteChange(() => {
      this.palette = readPalette();
      this.key = "";
    });
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", () => this.letGo());
  }

  /** Whether somebody drags. */
  get dragging() {
    return this.draft !== null;
  }

  /** The drag has led to nothing. */
  letGo() {
    this.held = null;
    this.draft = null;
    this.key = "";
  }

  /** @param {PointerEvent} event */
  #x(event) {
    return event.clientX - this.canvas.getBoundingClientRect().left;
  }

  /** @param {number} x px */
  #time(x) {
    const axis = this.host.film()?.axis;
    const width = Math.max(1, this.canvas.clientWidth);
    return axis ? axis.time((Math.max(0, Math.min(width, x)) / width) * axis.length) : 0;
  }

  /** @param {number} t ns */
  #place(t) {
    const axis = this.host.film()?.axis;
    return axis ? (axis.place(Math.max(0, t)) / Math.max(1, axis.length)) * this.canvas.clientWidth : 0;
  }

  /** @param {PointerEvent} event */
  #grip(event) {
    const loop = this.host.loop();
    return gripAt(loop ? [this.#place(loop[0]), this.#place(loop[1])] : null, this.#x(event));
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (event.button !== 0 || !this.host.film()) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.held = { x: this.#x(event), end: this.#grip(event), loop: this.host.loop() };
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const { held } = this;
    if (!held) {
      this.canvas.style.cursor = this.#grip(event) === null ? "" : "ew-resize";
      return;
    }
    const x = this.#x(event);
    if (held.end === null || !held.loop) this.draft = dragged(held.x, x, (place) => this.#time(place)) ?? this.draft;
    else if (this.draft || Math.abs(x - held.x) >= SLACK) {
      const [other, here] = [held.loop[1 - held.end], this.#time(x)];
      this.draft = here < other ? [here, Math.max(other, here + SHORTEST_LOOP)] : [other, Math.max(here, other + SHORTEST_LOOP)];
    }
    this.key = "";
  }

  /** @param {PointerEvent} event */
  #up(event) {
    const { draft, held } = this;
    this.letGo();
    if (draft) this.host.setLoop(draft);
    else if (held) this.host.seek(this.#time(this.#x(event)));
  }

  update() {
    const tapes = this.host.tapes();
    const film = this.host.film();
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!film || !tapes.length || !width || !height) return;
    const ratio = Math.min(3, devicePixelRatio || 1);
    const x = (/** @type {number} */ t) => this.#place(t);
    const loop = this.draft ?? this.host.loop();
    const markers = this.host.markers();
    const now = Math.round(x(this.host.t()) * ratio);
    const key = [tapes.map(({ tape }) => `${tape.told.records}/${tape.told.end_t}/${tape.told.read}`), film.axis.length, now, loop, markers.map((one) => one.t), width, height, ratio].join("|");
    if (key === this.key) return;
    this.key = key;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const { context: c, palette: p } = this;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = p.page;
    c.fillRect(0, 0, width, height);
    if (loop) {
      c.globalAlpha = 0.14;
      c.fillStyle = p.focus;
      c.fillRect(x(loop[0]), 0, Math.max(2, x(loop[1]) - x(loop[0])), height);
      c.globalAlpha = 1;
    }
    const row = height / tapes.length;
    tapes.forEach(({ name, tape }, i) => {
      c.save();
      c.translate(0, i * row);
      if (i) {
        c.fillStyle = p.line;
        c.fillRect(0, 0, width, 1);
      }
      this.#bars(tape, x, width, row);
      this.#incidents(tape, x);
      if (tapes.length > 1) this.#name(name);
      c.restore();
    });
    this.#marks(film, x, height, markers);
    if (loop) this.#handles(x(loop[0]), x(loop[1]), height);
    c.fillStyle = p.focus;
    c.fillRect(x(this.host.t()) - 0.75, 0, 1.5, height);
  }

  /** @param {string} name */
  #name(name) {
    const { context: c, palette: p } = this;
    const text = name.length > 26 ? `${name.slice(0, 25)}…` : name;
    c.font = `500 10.5px ${p.font}`;
    const wide = c.measureText(text).width;
    c.fillStyle = p.page;
    c.globalAlpha = 0.75;
    c.fillRect(TICK + 1, TICK - 2, wide + 6, 14);
    c.globalAlpha = 1;
    c.fillStyle = p.text2;
    c.fillText(text, TICK + 4, TICK + 8.5);
  }

  /** The ends of the loop, to be taken. @param {number} from px @param {number} to px @param {number} height */
  #handles(from, to, height) {
    const { context: c, palette: p } = this;
    for (const at of [from, Math.max(to, from + 2)]) {
      c.fillStyle = p.focus;
      c.fillRect(at - 0.75, 0, 1.5, height);
      c.beginPath();
      c.roundRect(at - 4, height / 2 - 8, 8, 16, 3);
      c.fill();
      c.fillStyle = p.page;
      c.fillRect(at - 1.5, height / 2 - 4, 1, 8);
      c.fillRect(at + 0.5, height / 2 - 4, 1, 8);
    }
  }

  /** @param {Tape} tape @param {(t: number) => number} x @param {number} width @param {number} height */
  #bars(tape, x, width, height) {
    const { context: c, palette: p } = this;
    const columns = Math.max(1, Math.floor(width / 2));
    const { records, early, late, trouble, known, looked } = columnsOf(tape.told.overview, (t) => x(t) / 2, columns);
    const floor = height - 2 * STRIP - 1;
    const room = floor - TICK;
    const most = Math.max(1, ...records);
    const mostStops = Math.max(4, ...early.map((n, i) => n + late[i]));
    c.strokeStyle = p.lost;
    c.lineWidth = 1;
    for (let i = 0; i < columns; i += 1) {
      if (!known[i]) {
        // Hatched as everywhere: nobody recorded it.
        if (i % 4 === 0) line(c, i * 2, height - 2, i * 2 + 8, Math.max(2, height - 10));
        continue;
      }
      const tall = Math.sqrt(records[i] / most) * room;
      c.fillStyle = p.text3;
      c.globalAlpha = 0.4;
      c.fillRect(i * 2, floor - tall, 2, tall);
      c.globalAlpha = 1;
      const stops = early[i] + late[i];
      if (stops) {
        const high = Math.max(2, Math.sqrt(stops / mostStops) * room);
        const amber = (late[i] / stops) * high;
        c.fillStyle = p.found;
        c.fillRect(i * 2, floor - high + amber, 1.5, high - amber);
        c.fillStyle = p.late;
        c.fillRect(i * 2, floor - high, 1.5, amber);
      }
      // How it was there is not known before it has been read through.
      if (!looked[i]) continue;
      // Full: well. A broken line: the stream was down, or the health check failed.
      c.fillStyle = trouble[i] & 2 ? p.lost : p.found;
      c.fillRect(i * 2, floor + 1, trouble[i] & 2 ? 1 : 2, trouble[i] & 2 ? STRIP - 0.5 : 1.5);
      if (trouble[i] & 1) {
        c.fillStyle = p.lost;
        c.fillRect(i * 2, floor + 1 + STRIP, 2, STRIP - 0.5);
      }
    }
  }

  /** @param {Tape} tape @param {(t: number) => number} x */
  #incidents(tape, x) {
    const { context: c, palette: p } = this;
    c.fillStyle = p.lost;
    for (const { t } of tape.told.incidents) {
      c.beginPath();
      c.moveTo(x(t) - 3, 0);
      c.lineTo(x(t) + 3, 0);
      c.lineTo(x(t), TICK);
      c.fill();
    }
  }

  /** @param {Ruled} film @param {(t: number) => number} x @param {number} height @param {{t: number}[]} markers */
  #marks(film, x, height, markers) {
    const { context: c, palette: p } = this;
    c.fillStyle = p.text;
    for (const { t } of markers) {
      c.fillRect(x(t) - 0.5, 0, 1, height);
      c.fillRect(x(t), 0, 5, 4);
    }
    const scale = this.canvas.clientWidth / Math.max(1, film.axis.length);
    c.strokeStyle = p.text3;
    c.fillStyle = p.page;
    c.lineWidth = 1;
    for (const [from, to] of film.axis.breaks) {
      const middle = ((from + to) / 2) * scale;
      c.fillRect(middle - 4, 0, 8, height);
      for (const side of [-3, 3]) {
        c.beginPath();
        for (let y = 0; y <= height; y += 4) c.lineTo(middle + side + (y % 8 ? 1.5 : -1.5), y);
        c.stroke();
      }
    }
  }
}

/** @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} x2 @param {number} y2 */
function line(c, x, y, x2, y2) {
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x2, y2);
  c.stroke();
}

// @ts-check
/**
 * The whole recording above its scrubber: how much happened when (amber on top: stops that only
 * polling found), when the health check failed and the stream was down, incidents, markers, the
 * loop, and breaks where nothing was recorded. What it shows is also told in words and by keys.
 */
import { onPaletteChange, readPalette } from "./palette.js";

const STRIP = 3;
const TICK = 5;

/**
 * Bins of the overview as columns of the picture: for each column the records, and ends of containers
 * found early and late, that lie in it, and what was the matter.
 * @param {import("./tape.js").Overview} overview @param {(t: number) => number} x of a time, in columns @param {number} columns
 */
export function columnsOf(overview, x, columns) {
  const records = new Float64Array(columns);
  const early = new Float64Array(columns);
  const late = new Float64Array(columns);
  const trouble = new Uint8Array(columns);
  overview.records.forEach((count, i) => {
    const from = Math.max(0, Math.min(columns - 1, Math.floor(x(i * overview.width))));
    const to = Math.max(from, Math.min(columns - 1, Math.ceil(x((i + 1) * overview.width)) - 1));
    const share = 1 / (to - from + 1);
    for (let column = from; column <= to; column += 1) {
      records[column] += count * share;
      early[column] += overview.early[i] * share;
      late[column] += overview.late[i] * share;
      trouble[column] |= overview.trouble[i];
    }
  });
  return { records, early, late, trouble };
}

export class OverviewStrip {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{tape: () => import("./tape.js").Tape|null, t: () => number, loop: () => [number, number]|null,
   *   markers: () => {t: number}[], seek: (t: number) => void}} host
   */
  constructor(canvas, host) {
    this.canvas = canvas;
    this.host = host;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.palette = readPalette();
    this.key = "";
    onPaletteChange(() => {
      this.palette = readPalette();
      this.key = "";
    });
    let held = false;
    canvas.addEventListener("pointerdown", (event) => {
      held = true;
      canvas.setPointerCapture(event.pointerId);
      this.#go(event);
    });
    canvas.addEventListener("pointermove", (event) => { if (held) this.#go(event); });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { held = false; });
  }

  /** @param {PointerEvent} event */
  #go(event) {
    const tape = this.host.tape();
    const box = this.canvas.getBoundingClientRect();
    if (tape) this.host.seek(tape.time(((event.clientX - box.left) / box.width) * tape.axis.length));
  }

  update() {
    const tape = this.host.tape();
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!tape || !width || !height) return;
    const ratio = Math.min(3, devicePixelRatio || 1);
    const x = (/** @type {number} */ t) => (tape.place(Math.max(0, t)) / Math.max(1, tape.axis.length)) * width;
    const loop = this.host.loop();
    const markers = this.host.markers();
    const now = Math.round(x(this.host.t()) * ratio);
    const key = [tape.told.records, tape.told.end_t, now, loop, markers.map((one) => one.t), width, height, ratio].join("|");
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
    this.#bars(tape, x, width, height);
    this.#marks(tape, x, height, markers);
    c.fillStyle = p.focus;
    c.fillRect(x(this.host.t()) - 0.75, 0, 1.5, height);
  }

  /** @param {import("./tape.js").Tape} tape @param {(t: number) => number} x @param {number} width @param {number} height */
  #bars(tape, x, width, height) {
    const { context: c, palette: p } = this;
    const columns = Math.max(1, Math.floor(width / 2));
    const { records, early, late, trouble } = columnsOf(tape.told.overview, (t) => x(t) / 2, columns);
    const floor = height - 2 * STRIP - 1;
    const room = floor - TICK;
    const most = Math.max(1, ...records);
    const mostStops = Math.max(4, ...early.map((n, i) => n + late[i]));
    for (let i = 0; i < columns; i += 1) {
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
      // Full: well. A broken line: the stream was down, or the health check failed.
      c.fillStyle = trouble[i] & 2 ? p.lost : p.found;
      c.fillRect(i * 2, floor + 1, trouble[i] & 2 ? 1 : 2, trouble[i] & 2 ? STRIP - 0.5 : 1.5);
      if (trouble[i] & 1) {
        c.fillStyle = p.lost;
        c.fillRect(i * 2, floor + 1 + STRIP, 2, STRIP - 0.5);
      }
    }
  }

  /** @param {import("./tape.js").Tape} tape @param {(t: number) => number} x @param {number} height @param {{t: number}[]} markers */
  #marks(tape, x, height, markers) {
    const { context: c, palette: p } = this;
    c.fillStyle = p.lost;
    for (const { t } of tape.told.incidents) {
      c.beginPath();
      c.moveTo(x(t) - 3, 0);
      c.lineTo(x(t) + 3, 0);
      c.lineTo(x(t), TICK);
      c.fill();
    }
    c.fillStyle = p.text;
    for (const { t } of markers) {
      c.fillRect(x(t) - 0.5, 0, 1, height);
      c.fillRect(x(t), 0, 5, 4);
    }
    const scale = this.canvas.clientWidth / Math.max(1, tape.axis.length);
    c.strokeStyle = p.text3;
    c.fillStyle = p.page;
    c.lineWidth = 1;
    for (const [from, to] of tape.axis.breaks) {
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

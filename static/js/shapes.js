// @ts-check
/**
 * The marks as paths on a canvas, `s` across, centred at (x, y). The same geometry as the glyphs
 * of the page's sprite. Each has a halo in the ground's colour, so that it stands on anything.
 *
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {(c: CanvasRenderingContext2D, x: number, y: number, s: number, p: Palette) => void} Draw
 */

const HALO = 1.25;

/** @param {CanvasRenderingContext2D} c @param {string} color @param {Palette} p @param {number} width */
function filled(c, color, p, width = HALO * 2) {
  c.lineWidth = width;
  c.strokeStyle = p.ground;
  c.lineJoin = "round";
  c.stroke();
  c.fillStyle = color;
  c.fill();
}

/** @param {CanvasRenderingContext2D} c @param {string} color @param {Palette} p @param {number} width */
function outlined(c, color, p, width) {
  c.lineWidth = width + HALO * 2;
  c.strokeStyle = p.ground;
  c.stroke();
  c.lineWidth = width;
  c.strokeStyle = color;
  c.stroke();
}

/** @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} r */
function circle(c, x, y, r) {
  c.beginPath();
  c.arc(x, y, r, 0, Math.PI * 2);
}

/** @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} r */
function diamond(c, x, y, r) {
  c.beginPath();
  c.moveTo(x, y - r);
  c.lineTo(x + r, y);
  c.lineTo(x, y + r);
  c.lineTo(x - r, y);
  c.closePath();
}

/**
 * Round: a request found it. Square: the poll found it. Triangle: an event was believed.
 * @param {"found"|"late"|"glob"} color @param {"died"|"started"|"removed"|"sync"} what
 * @param {"round"|"square"|"triangle"} shape @returns {Draw}
 */
function finding(color, what, shape) {
  return (c, x, y, s, p) => {
    const r = s / 2;
    const path = (/** @type {number} */ size) => {
      if (shape === "round") circle(c, x, y, size);
      else if (shape === "triangle") {
        c.beginPath();
        c.moveTo(x - size, y - size * 0.9);
        c.lineTo(x + size, y - size * 0.9);
        c.lineTo(x, y + size);
        c.closePath();
      } else {
        c.beginPath();
        c.rect(x - size * 0.92, y - size * 0.92, size * 1.84, size * 1.84);
      }
    };
    if (what === "died") {
      path(r);
      filled(c, p[color], p);
      return;
    }
    path(r - 0.9);
    c.lineWidth = 1.8 + HALO * 2;
    c.strokeStyle = p.ground;
    c.stroke();
    c.fillStyle = p.ground;
    c.fill();
    c.lineWidth = 1.8;
    c.strokeStyle = p[color];
    c.stroke();
    if (what === "removed") {
      c.beginPath();
      c.moveTo(x - r + 1, y);
      c.lineTo(x + r - 1, y);
      c.stroke();
    } else if (what === "sync") {
      circle(c, x, y, r * 0.32);
      c.fillStyle = p[color];
      c.fill();
    }
  };
}

/** @type {Draw} */
function stop(c, x, y, s, p) {
  const r = s / 2;
  c.beginPath();
  c.moveTo(x - r, y - r * 0.9);
  c.lineTo(x + r, y - r * 0.9);
  c.lineTo(x, y + r);
  c.closePath();
  filled(c, p.said, p);
}

/** @type {Draw} */
function ignored(c, x, y, s, p) {
  const r = s / 2;
  c.beginPath();
  c.moveTo(x - r, y - r * 0.8);
  c.lineTo(x + r, y - r * 0.8);
  c.lineTo(x, y + r);
  c.closePath();
  c.moveTo(x - r * 1.15, y + r * 1.15);
  c.lineTo(x + r * 1.15, y - r * 1.15);
  outlined(c, p.said, p, 1.2);
}

/** @type {Draw} */
function held(c, x, y, s, p) {
  diamond(c, x, y, s / 2);
  c.lineWidth = 1.6 + HALO * 2;
  c.strokeStyle = p.ground;
  c.stroke();
  c.fillStyle = p.ground;
  c.fill();
  c.lineWidth = 1.6;
  c.strokeStyle = p.ask;
  c.stroke();
}

/** @type {Draw} */
function coalesced(c, x, y, s, p) {
  held(c, x, y, s, p);
  const r = s / 2;
  c.beginPath();
  c.moveTo(x, y - r);
  c.lineTo(x + r, y);
  c.lineTo(x, y + r);
  c.closePath();
  c.fillStyle = p.ask;
  c.fill();
}

/** @type {Draw} */
function dropped(c, x, y, s, p) {
  const r = s / 2;
  c.beginPath();
  c.moveTo(x - r, y - r);
  c.lineTo(x + r, y + r);
  c.moveTo(x + r, y - r);
  c.lineTo(x - r, y + r);
  outlined(c, p.lost, p, 2);
}

/** @type {Draw} */
function skipped(c, x, y, s, p) {
  c.setLineDash([2.5, 2]);
  c.strokeStyle = p.ask;
  c.lineWidth = 1.2;
  c.strokeRect(x - s * 0.7, y - s / 2, s * 1.4, s);
  c.setLineDash([]);
  c.beginPath();
  c.moveTo(x - s * 0.55, y + s * 0.75);
  c.lineTo(x + s * 0.55, y - s * 0.75);
  c.stroke();
}

/** @type {Draw} */
function bypoll(c, x, y, s, p) {
  c.beginPath();
  c.rect(x - s / 2, y - s / 2, s, s);
  c.fillStyle = p.ground;
  c.fill();
  c.setLineDash([2.4, 1.8]);
  c.strokeStyle = p.late;
  c.lineWidth = 1.5;
  c.stroke();
  c.setLineDash([]);
}

/** @type {Record<string, Draw>} */
export const SHAPES = {
  stop, ignored, held, coalesced, dropped, skipped, bypoll,
  "died-req": finding("found", "died", "round"), "started-req": finding("found", "started", "round"),
  "removed-req": finding("found", "removed", "round"), "sync-req": finding("found", "sync", "round"),
  "died-poll": finding("late", "died", "square"), "started-poll": finding("late", "started", "square"),
  "died-calm": finding("glob", "died", "square"), "started-calm": finding("glob", "started", "square"),
  "removed-calm": finding("glob", "removed", "square"), "sync-calm": finding("glob", "sync", "square"),
  "died-event": finding("found", "died", "triangle"), "started-event": finding("found", "started", "triangle"),
  "removed-event": finding("found", "removed", "triangle"),
  other: (c, x, y, s, p) => {
    c.fillStyle = p.text3;
    c.fillRect(Math.round(x), y - s / 2, 1, s);
  },
};

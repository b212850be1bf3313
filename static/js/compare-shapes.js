// @ts-check
/** The marks of differences, beside those of the live timeline. Each has a shape of its own. */
import { SHAPES } from "./shapes.js";

/** @typedef {import("./shapes.js").Draw} Draw */

/** @param {CanvasRenderingContext2D} c @param {string} color @param {import("./palette.js").Palette} p */
function filled(c, color, p) {
  c.lineJoin = "round";
  c.lineWidth = 2.5;
  c.strokeStyle = p.ground;
  c.stroke();
  c.fillStyle = color;
  c.fill();
}

/** @param {-1|1} way @returns {Draw} */
const arrow = (way) => (c, x, y, s, p) => {
  const r = s / 2;
  c.beginPath();
  c.moveTo(x - way * r * 0.8, y - r);
  c.lineTo(x - way * r * 0.8, y + r);
  c.lineTo(x + way * r, y);
  c.closePath();
  filled(c, p.text2, p);
};

/** An exclamation mark in the ground's colour. @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} s @param {import("./palette.js").Palette} p */
function warned(c, x, y, s, p) {
  const wide = Math.max(1.2, s * 0.15);
  c.fillStyle = p.ground;
  c.fillRect(x - wide / 2, y - s * 0.28, wide, s * 0.32);
  c.fillRect(x - wide / 2, y + s * 0.13, wide, wide);
}

Object.assign(SHAPES, /** @type {Record<string, Draw>} */ ({
  sooner: arrow(-1),
  later: arrow(1),
  never: (c, x, y, s, p) => {
    c.beginPath();
    for (let i = 0; i < 8; i += 1) {
      const angle = Math.PI / 8 + (i * Math.PI) / 4;
      c.lineTo(x + Math.cos(angle) * s * 0.58, y + Math.sin(angle) * s * 0.58);
    }
    c.closePath();
    filled(c, p.late, p);
    warned(c, x, y, s, p);
  },
  wrong: (c, x, y, s, p) => {
    c.beginPath();
    c.moveTo(x, y - s * 0.6);
    c.lineTo(x + s * 0.66, y + s * 0.52);
    c.lineTo(x - s * 0.66, y + s * 0.52);
    c.closePath();
    filled(c, p.late, p);
    warned(c, x, y + s * 0.1, s * 0.9, p);
  },
  absent: (c, x, y, s, p) => {
    c.setLineDash([2, 2]);
    c.beginPath();
    c.arc(x, y, s / 2, 0, Math.PI * 2);
    c.lineWidth = 1.4;
    c.strokeStyle = p.text3;
    c.stroke();
    c.setLineDash([]);
  },
}));

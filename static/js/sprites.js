// @ts-check
/**
 * Marks drawn once and stamped: a path with its halo costs some twenty times a small picture.
 *
 * @typedef {import("./palette.js").Palette} Palette
 */
import { SHAPES } from "./shapes.js";

/** Room around a mark for its halo and for strokes that reach out, CSS px. */
const ROOM = 5;

export class Sprites {
  /** @param {Palette} palette */
  constructor(palette) {
    this.palette = palette;
    this.ratio = 1;
    /** @type {Map<string, HTMLCanvasElement>} */
    this.made = new Map();
  }

  /** Colours or pixel density changed. @param {Palette} palette @param {number} ratio */
  reset(palette, ratio) {
    this.palette = palette;
    this.ratio = ratio;
    this.made.clear();
  }

  /**
   * Stamp a mark, on whole device pixels so that it stays sharp.
   * @param {CanvasRenderingContext2D} c @param {string} shape @param {number} x @param {number} y @param {number} s
   */
  stamp(c, shape, x, y, s) {
    const size = Math.round(s * 4) / 4;
    const key = `${shape}${size}`;
    let picture = this.made.get(key);
    if (!picture) {
      picture = this.#make(shape, size);
      this.made.set(key, picture);
    }
    const { ratio } = this;
    const wide = picture.width / ratio;
    const left = Math.round((x - wide / 2) * ratio) / ratio;
    const top = Math.round((y - wide / 2) * ratio) / ratio;
    c.drawImage(picture, left, top, wide, wide);
  }

  /** @param {string} shape @param {number} size */
  #make(shape, size) {
    const { ratio } = this;
    const picture = document.createElement("canvas");
    picture.width = picture.height = Math.ceil((size * 1.5 + ROOM * 2) * ratio);
    const c = /** @type {CanvasRenderingContext2D} */ (picture.getContext("2d"));
    c.scale(ratio, ratio);
    const middle = picture.width / ratio / 2;
    (SHAPES[shape] ?? SHAPES.other)(c, middle, middle, size, this.palette);
    return picture;
  }
}

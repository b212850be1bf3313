// @ts-check
/**
 * From the store to a draw list: what is where, without a canvas.
 *
 * `x` is in CSS px from the list's `origin` (a time), so that a list stays right while the window
 * glides over it; an `x2` of Infinity means "to the present". `y` of lanes counts from the top of
 * all lanes. Layers are drawn in order.
 *
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./lineup.js").Row} Row
 * @typedef {import("./chain.js").Chain} Chain
 * @typedef {{
 *   k: string, x: number, y: number, x2?: number, h?: number, s?: number, c?: string, text?: string,
 *   seq?: number, uid?: string, dim?: boolean, t?: number, align?: "left"|"right", note?: string,
 *   w?: number, cells?: import("./bins.js").Cells, x1?: number
 * }} Item `k` what to draw, `c` a colour's name, `s` a size, `seq` the record it stands for, `w` the
 *   width of each of `cells`, which are drawn from `x1` to `x2`
 * @typedef {{
 *   origin: number, scale: number, from: number, to: number, rows: Item[][], lanes: Item[][]
 * }} DrawList `scale` px per ns; valid for windows between `from` and `to`
 * @typedef {{
 *   store: Store, rows: Row[], from: number, to: number, scale: number, off: Set<string>,
 *   chain: Chain|null, now: number, label: number, heads: Heads, em: number, quietFrom: number,
 *   height: number, older?: import("./layout-older.js").Older|null
 * }} Scene `label`: height of the name above a lane on narrow screens
 * @typedef {{ruler: number, global: number, stream: number, queue: number, faults?: number}} Heads heights, px
 */
import { layoutLane } from "./layout-lane.js";
import { layoutChain } from "./layout-chain.js";
import { layoutHeads, layoutHoles } from "./layout-heads.js";
import { layoutOlderHeads, layoutOlderHoles } from "./layout-older.js";
import { layoutPart } from "./layout-part.js";

export { LAYER } from "./layers.js";

/** @returns {Item[][]} */
const layers = () => Array.from({ length: 13 }, () => []);

/** @param {Scene} scene @returns {DrawList} */
export function layout(scene) {
  const { from, to, scale } = scene;
  const lanes = layers();
  const rows = layers();
  const px = (/** @type {number} */ t) => (t - from) * scale;
  layoutHeads(scene, rows, lanes, px);
  if (scene.older) layoutOlderHeads(scene, scene.older, rows, lanes, px);
  const selected = scene.chain?.lane?.uid ?? null;
  for (const row of scene.rows) {
    if (!row.lane) continue;
    const dim = selected !== null && row.lane.uid !== selected;
    if (row.part) layoutPart(scene, row, row.lane, row.part.name, lanes, px, dim);
    else layoutLane(scene, row, row.lane, lanes, px, dim);
  }
  if (scene.chain) layoutChain(scene, scene.chain, lanes, rows, px);
  if (scene.older) layoutOlderHoles(scene.older, lanes, px);
  layoutHoles(scene, lanes, px);
  return { origin: from, scale, from, to, rows, lanes };
}

/**
 * What is under a point, the topmost first; x from the list's origin, y as in the list.
 * @param {Item[][]} all @param {number} x @param {number} y @param {number} nowX
 */
export function hit(all, x, y, nowX, reach = 4) {
  for (let z = all.length - 1; z >= 0; z -= 1) {
    const layer = all[z];
    for (let i = layer.length - 1; i >= 0; i -= 1) {
      const item = layer[i];
      if (!item.seq) continue;
      const half = item.s === undefined ? 0 : item.s / 2;
      const right = item.x2 === undefined ? item.x + half : Math.min(item.x2, nowX);
      const left = item.x - half;
      const tall = item.h ?? item.s ?? 4;
      const top = item.h === undefined ? item.y - tall / 2 : item.y;
      if (x >= left - reach && x <= right + reach && y >= top - reach && y <= top + tall + reach) return item;
    }
  }
  return null;
}

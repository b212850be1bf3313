// @ts-check
/** Layers of the lanes, back to front. */
export const LAYER = {
  tint: 0, band: 1, sync: 2, run: 3, tail: 4, heldline: 5, wait: 6, bar: 7, found: 8, said: 9,
  lost: 10, chain: 11, hatch: 12,
};

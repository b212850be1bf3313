// @ts-check
/** The canvas's colours and font, read from the style sheet so that both always agree. */

const NAMES = [
  "said", "ask", "glob", "found", "late", "lost", "bad", "life", "focus", "ground", "page", "surface",
  "raised", "sel", "line", "line2", "text", "text2", "text3", "sync", "sync-edge", "band",
  "band-wide", "tint", "ask-25",
];

/** @typedef {Record<string, string>} Palette */

/** @returns {Palette} */
export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  /** @type {Palette} */
  const palette = {};
  for (const name of NAMES) palette[name] = style.getPropertyValue(`--${name}`).trim();
  palette.font = getComputedStyle(document.body).fontFamily;
  return palette;
}

/** Size of the root font in units of 16 px: how far the reader has zoomed the text. */
export function textScale() {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1;
}

/** Whether the page is laid out for a narrow screen; the width at which the style sheet turns. */
export function isNarrow() {
  return matchMedia("(max-width: 43.75em)").matches;
}

/** Call back whenever colours may have changed. @param {() => void} callback */
export function onPaletteChange(callback) {
  for (const query of ["(prefers-color-scheme: light)", "(forced-colors: active)"]) {
    matchMedia(query).addEventListener("change", callback);
  }
  new MutationObserver(callback).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

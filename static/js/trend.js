// @ts-check
/**
 * How long global relists took and how many containers there were, over all that this page knows:
 * a bar for the longest relist of each moment (logarithmic), a stepped line for the containers.
 * Both together tell a node that got slower from one that got fuller.
 */
import { h, s, setText } from "./dom.js";
import { textScale } from "./palette.js";
import { trend } from "./stats.js";
import { count, duration } from "./words.js";

/** Of the drawing, in units of the text's scale. */
const HEIGHT = 26;
const COLUMN = 4;
/** A relist in progress is late from so long on, ns. */
const LATE = 30e9;
/** Drawn again so often at most, ms. */
const EVERY = 1000;

/** "24–26 containers", or "26 containers". @param {number[]} counts */
export function containersWords(counts) {
  if (!counts.length) return "";
  const [low, high] = [Math.min(...counts), Math.max(...counts)];
  return low === high ? count(high, "container") : `${low.toLocaleString("en-US")}–${count(high, "container")}`;
}

export class Trend {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.svg = s("svg", { class: "trend-picture", height: HEIGHT, "aria-hidden": "true" });
    this.relists = h("span", {});
    this.containers = h("span", {});
    box.append(this.svg, h("p", { class: "trend-words" },
      h("span", {}, h("i", { class: "key-bar", "aria-hidden": "true" }), h("span", { class: "sr" }, "Global relists: "), this.relists),
      h("span", {}, h("i", { class: "key-line", "aria-hidden": "true" }), h("span", { class: "sr" }, "Containers listed: "), this.containers)));
    this.drawnAt = -Infinity;
    this.key = "";
  }

  /** @param {import("./store.js").Store} store @param {number} now @param {import("./stats.js").Usual|null} usual */
  update(store, now, usual) {
    const scale = textScale();
    const width = this.box.clientWidth / scale;
    const last = store.globals.at(-1);
    const time = performance.now();
    const key = `${Math.round(width)}|${last?.id}|${last?.to}|${store.globals[0]?.id}`;
    const open = last?.to === null;
    if (width < COLUMN || (key === this.key && !open) || (time - this.drawnAt < EVERY && this.key)) return;
    this.key = last ? key : "";
    this.drawnAt = time;
    const found = trend(store, now, Math.floor(width / COLUMN));
    if (!found) {
      setText(this.relists, "no relist yet");
      setText(this.containers, "");
      this.svg.replaceChildren();
      return;
    }
    const counts = found.columns.flatMap(({ containers }) => (containers === null ? [] : [containers]));
    const span = found.to - found.from;
    setText(this.relists, usual ? `${usual.count.toLocaleString("en-US")} in ${duration(span)}, up to ${duration(usual.longest)}` : `${store.globals.length} in ${duration(span)}`);
    setText(this.containers, containersWords(counts));
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.svg.setAttribute("width", String(width * scale));
    this.svg.setAttribute("height", String(HEIGHT * scale));
    this.svg.replaceChildren(...bars(found.columns), steps(found.columns, counts, width));
  }
}

/** @param {import("./stats.js").Column[]} columns */
function bars(columns) {
  const known = columns.flatMap(({ took }) => (took === null ? [] : [took]));
  // From half the shortest on, and a factor of ten at least: a node that is even looks even.
  const low = Math.min(...known) / 2;
  const high = Math.max(...known, low * 10);
  return columns.flatMap(({ took, open, failed }, i) => {
    if (took === null) return [];
    const tall = Math.max(2, (Math.log(took / low) / Math.log(high / low)) * HEIGHT);
    return [s("rect", { class: open && took >= LATE ? "trend-bar open" : failed ? "trend-bar failed" : "trend-bar", x: i * COLUMN, y: HEIGHT - tall, width: COLUMN - 1, height: tall })];
  });
}

/** @param {import("./stats.js").Column[]} columns @param {number[]} counts @param {number} width */
function steps(columns, counts, width) {
  // Whole numbers that differ by a few are no mountain: the scale has room for eight at least.
  const low = Math.min(...counts);
  const span = Math.max(8, Math.max(...counts) - low);
  const y = (/** @type {number} */ n) => HEIGHT - 2 - ((n - low + (span - (Math.max(...counts) - low)) / 2) / span) * (HEIGHT - 4);
  let path = "";
  columns.forEach(({ containers }, i) => {
    if (containers !== null) path += path ? `H${i * COLUMN}V${y(containers)}` : `M${i * COLUMN} ${y(containers)}`;
  });
  return s("path", { class: "trend-line", d: path ? `${path}H${width}` : "" });
}

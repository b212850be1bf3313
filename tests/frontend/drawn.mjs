/**
 * A canvas that writes down what is drawn on it, for golden draw lists: each call in a line, with
 * the colours and widths in force where they matter. Numbers are rounded to a tenth of a px.
 */
const PAINTS = { fillRect: "fillStyle", fill: "fillStyle", fillText: "fillStyle", stroke: "strokeStyle", strokeRect: "strokeStyle" };
const SILENT = new Set(["save", "restore", "setTransform", "beginPath", "closePath"]);

/** @param {any} value @returns {string} */
function say(value) {
  if (typeof value === "number") return String(Math.round(value * 10) / 10 + 0);
  if (Array.isArray(value)) return `[${value.map(say).join(" ")}]`;
  if (typeof value === "string") return JSON.stringify(value);
  return value?.name ?? "?";
}

/** A drawing context; `lines` is what was drawn. @param {string} name @param {string[]} lines */
export function recorder(name, lines) {
  /** @type {any} */
  const state = { globalAlpha: 1, fillStyle: "", strokeStyle: "", lineWidth: 1, dash: [] };
  /** @type {any[]} */
  const saved = [];
  /** @type {Record<string, (...given: any[]) => any>} */
  const own = {
    save: () => { saved.push({ ...state }); },
    restore: () => { Object.assign(state, saved.pop()); },
    setLineDash: (dash) => { state.dash = dash; },
    getTransform: () => ({ a: 1 }),
    measureText: (text) => ({ width: text.length * 6 }),
    createPattern: () => ({ name: "hatch", setTransform() {} }),
  };
  return new Proxy(state, {
    get(_target, key) {
      if (typeof key !== "string" || key in state) return state[/** @type {any} */ (key)];
      return (/** @type {any[]} */ ...given) => {
        const answer = own[key]?.(...given);
        if (SILENT.has(key) || key in own) return answer;
        const words = [key, ...given.map(say)];
        const paint = PAINTS[/** @type {keyof typeof PAINTS} */ (key)];
        if (paint) words.push(say(state[paint]).replaceAll("\"", ""));
        if (paint === "strokeStyle") words.push(`w${say(state.lineWidth)}`, ...(state.dash.length ? [say(state.dash)] : []));
        if (state.globalAlpha !== 1) words.push(`a${Math.round(state.globalAlpha * 100) / 100}`);
        lines.push(`${name}${words.join(" ")}`);
        return answer;
      };
    },
    set(_target, key, value) {
      state[key] = value;
      return true;
    },
  });
}

/** Stands in for what the painter and its sprites want of a browser. */
export function browser() {
  const made = [];
  Object.assign(globalThis, {
    document: {
      createElement() {
        const lines = [];
        const canvas = { width: 0, height: 0, name: `picture${made.length}`, lines, getContext: () => recorder("", lines) };
        made.push(canvas);
        return canvas;
      },
    },
    DOMMatrix: class { scale() { return this; } },
  });
  return made;
}

/** Every colour is its own name. */
export const PALETTE = /** @type {any} */ (new Proxy({ font: "sans" }, { get: (own, name) => own[name] ?? name }));

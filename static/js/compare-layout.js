// @ts-check
/**
 * From a comparison to a draw list of the live timeline's painter: for each pod a heading and one
 * lane per run, all on one axis of time.
 *
 * A lane has the three tiers of the live timeline: what the runtime said (a tick where the process
 * truly began or ended, the stop event where one came), what was asked (the targeted relist), and
 * what was found. Amber runs from the moment the runtime knew of an end to its finding.
 *
 * @typedef {import("./layout.js").Item} Item
 * @typedef {import("./layout.js").DrawList} DrawList
 * @typedef {import("./compare-model.js").Model} Model
 * @typedef {import("./compare-model.js").Pod} Pod
 * @typedef {import("./compare-model.js").Row} Row
 * @typedef {import("./compare-model.js").Seen} Seen
 * @typedef {import("./compare-model.js").Mark} Mark
 * @typedef {{seq: number, uid: string, dim: boolean, note: string}} Common what all marks of a row have
 * @typedef {{lane: {uid: string, run: number}|null, pod: Pod, group: string, y: number, h: number, tall: boolean}} Line
 *   A pod's heading (lane null), or its lane of one run. `tall`: of the selected difference's pod.
 * @typedef {{ruler: number, global: number, stream: number}} Heads heights, px
 * @typedef {{
 *   model: Model, lines: Line[], from: number, to: number, scale: number, off: Set<string>,
 *   selected: number|null, heads: Heads, em: number
 * }} Scene
 */
import { LAYER } from "./layout.js";
import { geometry } from "./layout-lane.js";
import { glyphOf } from "./compare-model.js";

/** Lines of polls closer than this (px) are left out. */
const HAIR_PX = 9;
/** What a letter of the words beside a mark takes, px. */
const LETTER = 6.8;

/** @param {Pod[]} pods @param {number} runs @param {{heading: number, lane: number, selected: string|null}} at @returns {{lines: Line[], height: number}} */
export function placeLines(pods, runs, at) {
  /** @type {Line[]} */
  const lines = [];
  let y = 0;
  for (const pod of pods) {
    const tall = pod.uid === at.selected;
    lines.push({ lane: null, pod, group: pod.name, y, h: at.heading, tall: false });
    y += at.heading;
    for (let run = 0; run < runs; run += 1) {
      lines.push({ lane: { uid: pod.uid, run }, pod, group: pod.name, y, h: at.lane, tall });
      y += at.lane;
    }
  }
  return { lines, height: y };
}

/** @param {Scene} scene @returns {DrawList} */
export function layoutCompare(scene) {
  const { from, to, scale } = scene;
  const layers = () => Array.from({ length: 13 }, () => /** @type {Item[]} */ ([]));
  const lanes = layers();
  const rows = layers();
  const px = (/** @type {number} */ t) => (t - from) * scale;
  heads(scene, rows, px);
  /** @type {Map<number, {x: number, y: number}[]>} */
  const found = new Map();
  for (const line of scene.lines) if (line.lane) lane(scene, line, line.lane.run, lanes, px, found);
  if (scene.selected !== null) join(found.get(scene.selected) ?? [], lanes);
  return { origin: from, scale, from, to, rows, lanes };
}

/** @param {Scene} scene @param {Item[][]} rows @param {(t: number) => number} px */
function heads({ model, from, to, heads: h, em }, rows, px) {
  model.runs.forEach(({ drawn }, run) => {
    const y = h.ruler + 4 * em + run * 8 * em;
    let last = -Infinity;
    for (const [begin, end] of drawn.relists) {
      if (end < from || begin > to) continue;
      const x = px(begin);
      if (x - last < 2 && px(end) - x < 2) continue;
      last = x;
      rows[LAYER.bar].push({ k: "bar", x, x2: Math.max(x + 1.5, px(end)), y, h: 6 * em });
    }
    const line = h.ruler + h.global + 6 * em + run * 7 * em;
    stretches(drawn.stream).forEach(({ begin, end, k }) => {
      if (begin > to || end < from) return;
      rows[LAYER.run].push({ k, x: px(begin), x2: end === Infinity ? Infinity : px(end), y: line });
    });
  });
}

/**
 * A run's stream as it is drawn: up, down, or left alone (never joined, or only being opened).
 * @param {[number, string][]} stream @returns {{begin: number, end: number, k: "stream"|"down"|"alone"}[]}
 */
export function stretches(stream) {
  let joined = false;
  const changes = stream.length ? stream : [/** @type {[number, string]} */ ([0, "off"])];
  return changes.map(([begin, state], i) => {
    joined ||= state === "connected";
    const k = state === "connected" ? "stream" : state === "off" || (!joined && state === "connecting") ? "alone" : "down";
    return { begin: i === 0 ? 0 : begin, end: changes[i + 1]?.[0] ?? Infinity, k };
  });
}

/**
 * @typedef {{
 *   scene: Scene, line: Line, run: number, out: Item[][], px: (t: number) => number,
 *   g: ReturnType<typeof geometry>, y: {said: number, asked: number, found: number}, words: Words,
 *   found: Map<number, {x: number, y: number}[]>
 * }} At where a lane's marks go; `y`: its tiers
 */

/**
 * @param {Scene} scene @param {Line} line @param {number} run @param {Item[][]} out
 * @param {(t: number) => number} px @param {Map<number, {x: number, y: number}[]>} found
 */
function lane(scene, line, run, out, px, found) {
  const { model, em, selected } = scene;
  const g = geometry(line.h, em);
  const y = { said: line.y + g.said, asked: line.y + g.asked, found: line.y + g.found };
  const words = new Words(em);
  /** @type {At} */
  const at = { scene, line, run, out, px, g, y, words, found };
  ground(at);
  for (const id of line.pod.ids) {
    const row = model.rows[id];
    const mark = row.marks.find((each) => each.run === run && !scene.off.has(each.kind));
    const common = { seq: id + 1, uid: line.pod.uid, dim: selected !== null && selected !== id, note: String(run) };
    if (!row.seen.length) wrong(at, row, mark, common);
    else if (row.seen[run]) seenMarks(at, row, /** @type {Seen} */ (row.seen[run]), mark, common);
    else if (mark) absent(at, row, mark, common);
  }
  words.put(out, line, selected !== null);
}

/** @param {At} at @param {Row} row @param {Mark|undefined} mark @param {Common} common */
function wrong({ scene, run, out, px, g, y, words }, row, mark, common) {
  const stretch = row.stretches[run];
  if (!stretch) return;
  const until = stretch.until_t ?? Infinity;
  if (stretch.t > scene.to || until < scene.from) return;
  const x = px(stretch.t);
  if (until > stretch.t) out[LAYER.tail].push({ k: "tail", x, x2: until === Infinity ? Infinity : px(until), y: y.found, s: 3, ...common });
  out[LAYER.lost].push({ k: "glyph", c: "wrong", x, y: y.found - 1, s: g.s * 1.15, ...common });
  words.say(x + 11 * scene.em, mark?.words ?? "", !common.dim && scene.selected !== null);
}

/** Where it was in the reference, so that both can be seen at once. @param {At} at @param {Row} row @param {Mark} mark @param {Common} common */
function absent({ scene, out, px, g, y, words }, row, mark, common) {
  const other = row.seen[scene.model.report.against] ?? row.seen.find(Boolean);
  if (!other || other.t < scene.from || other.t > scene.to) return;
  const x = px(other.t);
  const chosen = !common.dim && scene.selected !== null;
  out[LAYER.lost].push({ k: "glyph", c: "absent", x, y: y.found, s: g.s, ...common });
  words.say(x + 10 * scene.em, chosen ? mark.words : "", chosen);
}

/** @param {At} at @param {Row} row @param {Seen} seen @param {Mark|undefined} mark @param {Common} common */
function seenMarks({ scene, out, px, g, y, words, found }, row, seen, mark, common) {
  const { em } = scene;
  const chosen = !common.dim && scene.selected !== null;
  const foundT = seen.found_t ?? null;
  const last = foundT ?? (seen.fate === "waiting" ? Infinity : seen.t);
  if (seen.t > scene.to || last < scene.from) return;
  const begin = px(seen.known_t ?? seen.t);
  out[LAYER.said].push({ k: "tick", x: px(seen.t), y: y.said - g.s / 2, h: g.s, ...common });
  if (row.what === "end" && last > seen.t) {
    out[LAYER.tail].push({ k: "tail", x: begin, x2: last === Infinity ? Infinity : px(last), y: y.found, s: 3, ...common });
  }
  if (typeof seen.stop_t === "number" && seen.stop_t >= seen.t) out[LAYER.said].push({ k: "glyph", c: "stop", x: px(seen.stop_t), y: y.said, s: g.s, ...common });
  if (foundT === null) {
    out[LAYER.lost].push({ k: "glyph", c: "never", x: begin, y: y.found, s: g.s * 1.1, ...common });
    words.say(begin + 10 * em, mark?.words ?? "", chosen);
    return;
  }
  const end = px(foundT);
  if (seen.source !== "global" && seen.source !== "believed" && typeof seen.relist_t === "number") {
    const x = px(seen.relist_t);
    out[LAYER.bar].push({ k: seen.source === "evented_pleg" ? "relist" : "own", x, x2: Math.max(x + 3, end), y: y.asked - g.bar / 2, h: g.bar, ...common });
  }
  out[LAYER.found].push({ k: "glyph", c: glyphOf(row.what === "start" ? "start" : "end", seen), x: end, y: y.found, s: g.s, t: foundT, ...common });
  if (seen.delivered === false) out[LAYER.lost].push({ k: "glyph", c: "dropped", x: end, y: y.found, s: g.s, ...common });
  if (chosen) found.set(common.seq - 1, [...(found.get(common.seq - 1) ?? []), { x: end, y: y.found }]);
  // A long amber line has room for the words; behind it the next mark may be near.
  const inside = mark?.kind === "later" && row.what === "end" && end - begin > (mark.words.length * LETTER + 40) * em;
  words.say((inside ? begin : end) + 9 * em, mark ? arrowed(mark) : "", chosen || inside);
}

/** @param {Mark} mark */
const arrowed = ({ kind, words }) => (kind === "sooner" ? `◂ ${words}` : kind === "later" ? `▸ ${words}` : words);

/** The line of the pod cache, this run's polls, and its stream's absence. @param {At} at */
function ground({ scene, line, run, out, px, y }) {
  const { from, to } = scene;
  const { drawn } = scene.model.runs[run];
  const known = line.pod.lines[run];
  (known?.running ?? []).forEach(([t, running], i, all) => {
    const end = all[i + 1]?.[0] ?? known?.gone_t ?? Infinity;
    if (t > to || end < from) return;
    out[LAYER.run].push({ k: running > 0 ? "run" : "dots", x: px(Math.max(t, from)), x2: end === Infinity ? Infinity : px(Math.min(end, to)), y: y.found });
  });
  let last = -Infinity;
  for (const [begin] of drawn.relists) {
    if (begin < from || begin > to) continue;
    const x = px(begin);
    if (x - last < HAIR_PX) continue;
    last = x;
    out[LAYER.band].push({ k: "hair", x, y: line.y, h: line.h });
  }
  for (const { begin, end, k } of stretches(drawn.stream)) {
    if (k !== "down" || begin > to || end < from) continue;
    out[LAYER.tint].push({ k: "tint", x: px(begin), x2: end === Infinity ? Infinity : px(end), y: line.y, h: line.h });
  }
}

/** Words of one lane: those of the selection always, others where there is room up to the next mark. */
class Words {
  /** @param {number} em */
  constructor(em) {
    this.em = em;
    /** @type {{x: number, text: string, must: boolean}[]} */
    this.all = [];
  }

  /** Words, or (empty) a mark that others must not cover. @param {number} x @param {string} text @param {boolean} must */
  say(x, text, must) {
    this.all.push({ x, text, must });
  }

  /** @param {Item[][]} out @param {Line} line @param {boolean} onlyMust */
  put(out, line, onlyMust) {
    const { em } = this;
    const all = [...this.all].sort((a, b) => a.x - b.x);
    all.forEach(({ x, text, must }, i) => {
      if (!text || (onlyMust && !must)) return;
      const room = (all[i + 1]?.x ?? Infinity) - x - 24 * em;
      if (!must && text.length * LETTER * em > room) return;
      out[LAYER.chain].push({ k: "say", x, y: line.y + line.h / 2, text, align: "left" });
    });
  }
}

/** From each finding of the selected difference to the next run's. @param {{x: number, y: number}[]} found @param {Item[][]} out */
function join(found, out) {
  for (let i = 0; i + 1 < found.length; i += 1) {
    const a = found[i];
    const b = found[i + 1];
    out[LAYER.run].push({ k: "elbow", x: a.x, y: a.y, x2: b.x, h: b.y - 8 });
    out[LAYER.run].push({ k: "elbow", x: b.x, y: b.y - 8, x2: b.x, h: b.y });
  }
}

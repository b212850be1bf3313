// @ts-check
/**
 * The selected chain: elbow lines from cause to effect, and the milliseconds of each hop in words,
 * in the tall lane of the selected pod.
 *
 * @typedef {import("./layout.js").Item} Item
 * @typedef {import("./layout.js").Scene} Scene
 * @typedef {import("./chain.js").Chain} Chain
 */
import { LAYER } from "./layers.js";
import { duration, lateBy } from "./words.js";

/** About how wide a letter of these words is, in units of the text's scale. */
const LETTER = 7;

/** @param {Scene} scene @param {Chain} chain @param {Item[][]} lanes @param {Item[][]} rows @param {(t: number) => number} px */
export function layoutChain(scene, chain, lanes, rows, px) {
  const row = scene.rows.find((each) => each.lane !== null && each.lane === chain.lane && !each.part);
  const focus = chain.rec;
  if (!row) {
    const tier = focus.kind.startsWith("relist") ? scene.heads.ruler + scene.heads.global / 2 : scene.heads.ruler + scene.heads.global + scene.heads.stream / 2;
    if (!chain.lane) rows[LAYER.chain].push({ k: "focus", x: px(chain.relist?.from ?? focus.t), x2: chain.relist?.to ? px(chain.relist.to) : px(focus.t), y: tier, s: 22 });
    return;
  }
  const out = lanes[LAYER.chain];
  const top = row.y + scene.label;
  const h = row.h - scene.label;
  const { em } = scene;
  const tier = { said: top + 0.24 * h, asked: top + 0.5 * h, found: top + 0.78 * h };
  const { stop, ask, relist, find } = chain;
  const targeted = relist?.scope === "pod" ? relist : null;
  const gap = 10 * em;
  const say = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ text, c = "text") => out.push({ k: "say", x: x + gap, y, text, c, align: "left" });

  if (stop && ask) elbow(out, px(stop.t), tier.said + 7 * em, px(ask.t), tier.asked - (targeted && targeted.from - ask.t < 1e3 ? 7 * em : 0));
  // From below the cause to above the effect, so that the line lies on neither.
  const half = 7 * em;
  if (targeted && find && find.rec.relist === targeted.id) {
    const x = targeted.to === null ? Infinity : px(Math.min(targeted.to, find.t));
    elbow(out, x, tier.asked + half, x, tier.found - half);
  } else if (stop && find) elbow(out, px(stop.t), tier.said + half, px(stop.t), tier.found - half);

  if (stop) {
    const { rec } = stop;
    const exit = typeof rec.exit_code === "number" ? `, exit ${rec.exit_code}` : "";
    say(px(stop.t), tier.said, `stop event: ${rec.is_sandbox ? "the sandbox" : rec.container_name || rec.container_id?.slice(0, 12) || ""}${exit}`);
  }
  askWords(scene, chain, px, tier.asked, say);
  if (find) {
    const late = find.from !== null ? `, ${lateBy(find.t - find.from)}${find.t - find.from < 1e3 ? "" : " after the stop"}` : "";
    const fans = chain.finds.filter((each) => each.rec.relist === find.rec.relist).length;
    const end = px(find.t) + Math.max(0, fans - 1) * 11 * em;
    // Far out, the mark of the poll would lie on the words.
    const poll = chain.pollT === null ? end : px(chain.pollT);
    const from = poll - end < 60 * em ? poll : end;
    const text = `${find.rec.type}${late}`;
    // Without room to the right they go to the left of the death, not onto it.
    out.push({ k: "say", x: from + gap, x2: px(find.t) + gap, y: tier.found, text, c: "text", align: "left" });
    startedWords(chain, find, px, from + gap + text.length * LETTER * em, em, (x, words) => say(x, tier.found, words));
    if (chain.pollT !== null) {
      const x = px(chain.pollT);
      out.push({ k: "glyph", c: "bypoll", x, y: tier.found, s: 11 * em });
      out.push({ k: "say", x: x + gap, y: tier.found + 17 * em, text: `by polling: ${duration(chain.pollT - find.t)} later`, c: "late", align: "left", t: chain.pollT });
    }
  } else if (stop && !stop.moot) say(px(scene.now), tier.found, "not noticed yet");
}

/**
 * When it ran again, where there is room on either side of the mark.
 * @param {Chain} chain @param {import("./lane.js").Find} find @param {(t: number) => number} px @param {number} taken up to here there are other words
 * @param {number} em @param {(x: number, text: string) => void} say
 */
function startedWords(chain, find, px, taken, em, say) {
  const { started, pollT } = chain;
  if (!started) return;
  const text = `ContainerStarted, ${duration(started.t - find.t)} later`;
  const x = px(started.t);
  const room = text.length * LETTER * em + 24 * em;
  const poll = pollT === null ? -Infinity : px(pollT);
  if (x - room > taken && Math.abs(poll - x) > room) say(x, text);
}

/**
 * "waited 3.7 ms" under the wait when there is room, else both hops behind the bar.
 * @param {Scene} scene @param {Chain} chain @param {(t: number) => number} px @param {number} y
 * @param {(x: number, y: number, text: string, c?: string) => void} say
 */
function askWords(scene, chain, px, y, say) {
  const { ask, relist } = chain;
  const targeted = relist?.scope === "pod" ? relist : null;
  const words = [];
  let x = ask ? px(ask.endT ?? ask.t) : 0;
  if (ask) {
    for (const span of ask.spans) {
      if (span.to === null || span.to - span.from < 1e3) continue;
      words.push(`${span.what === "held" ? "held" : "waited"} ${duration(span.to - span.from)}`);
    }
    if (ask.end && ask.end !== "executed") words.push(ask.end);
  }
  if (targeted) {
    x = px(targeted.to ?? scene.now);
    if (targeted.to !== null) words.push(`relist ${duration(targeted.to - targeted.from)}`);
  }
  if (words.length) say(x, y, words.join(", "), "text2");
}

/** Down from the cause, then to the right to the effect. @param {Item[]} out @param {number} x @param {number} y @param {number} x2 @param {number} y2 */
function elbow(out, x, y, x2, y2) {
  if (Number.isFinite(x)) out.push({ k: "elbow", x, y, x2, h: y2 });
}

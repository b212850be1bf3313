// @ts-check
/**
 * The top of the page: how things are in a sentence, what the last minute held, the distance to the
 * limit, and how late findings were.
 *
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./condition.js").Condition} Condition
 * @typedef {import("./story.js").Parts} Parts
 */
import { wasStopped } from "./condition.js";
import { byId, h, parts, setChildren, setText } from "./dom.js";
import { isNarrow } from "./palette.js";
import { Spoken } from "./spoken.js";
import { slowestCall, stops, timesUsual, timesWords, usual } from "./stats.js";
import { age, bytes, count, duration, recordingWords } from "./words.js";

/** Conditions that say themselves how the stream is. */
const ABOUT_STREAM = new Set(["stream-down", "given-up", "polling", "safety"]);

/** Stops of the last minute, by how they were found. @param {Store} store @param {number} now @returns {Parts} */
function stopsLine(store, now) {
  const found = stops(store, now);
  /** @type {Parts} */
  const line = [];
  const mid = (/** @type {{median: number|null}} */ group) => (group.median === null ? [] : [", median ", { b: duration(group.median) }]);
  if (!found.total) line.push("No container stopped in the last 60\u00a0s.");
  else {
    line.push({ b: `${count(found.total, "container")} stopped` }, " in the last 60\u00a0s: ");
    /** @type {Parts[]} */
    const groups = [];
    if (found.hint.n) groups.push([`${found.hint.n} found by a hint`, ...mid(found.hint)]);
    if (found.poll.n) groups.push([{ b: `${found.poll.n} only by the global relist` }, ...mid(found.poll)]);
    if (found.event.n) groups.push([`${found.event.n} told by an event that was believed`]);
    if (found.own.n) groups.push([`${found.own.n} by a relist after a sync`, ...mid(found.own)]);
    if (found.held.n) groups.push([`${found.held.n} held until a sync ended`]);
    groups.forEach((group, i) => line.push(...(i ? ["; "] : []), ...group));
    line.push(".");
  }
  return line;
}

/** Second line: the stops, the stream, the queue. @param {Store} store @param {number} now @param {boolean} stream whether to say how the stream is @returns {Parts} */
function countsLine(store, now, stream) {
  const state = store.state;
  if (!state) return [];
  const line = stopsLine(store, now);
  if (stream) line.push(` ${streamWords(state, now, store.downSince)}`);
  const { length, capacity, held } = state.engine.queue;
  const queue = `${length} of ${capacity}`;
  if (capacity) line.push(" Queue\u00a0", length ? { b: queue.replaceAll(" ", "\u00a0") } : queue.replaceAll(" ", "\u00a0"), held ? `, ${held}\u00a0held.` : ".");
  return line;
}

/** @param {import("./types.js").SessionState} state @param {number} now @param {number|null} downSince */
export function streamWords(state, now, downSince) {
  const { stream } = state.engine;
  if (stream.state !== "connected" && (stream.code === "unimplemented" || stream.code === "immediate_eof")) {
    return stream.code === "unimplemented" ? "This runtime has no event stream." : "This runtime has its events switched off.";
  }
  const since = age(now - (stream.state === "connected" || stream.state === "closed" ? stream.since_t : downSince ?? stream.since_t));
  switch (stream.state) {
    case "connected": return `Stream connected\u00a0${since}.`;
    case "connecting": return "Stream connecting.";
    case "waiting": return `Stream down for ${since}.`;
    case "closed": return wasStopped(stream) ? "Stream closed as plegscope ended." : `Stream given up ${since} ago.`;
    default: return state.engine.health.last_start_t === null ? "Stream not opened yet." : stream.policy === "relist_only" ? "Stream left alone." : "This profile opens no stream.";
  }
}

/** A word that is left out where there is no room. @param {string} text */
const wide = (text) => h("span", { class: "wide-word" }, text);

export class Glance {
  /** @param {Store} store @param {Record<string, (() => void)|null>} acts what can be done here, by name */
  constructor(store, acts) {
    this.store = store;
    this.acts = acts;
    this.spoken = new Spoken();
    this.means = h("span", { class: "means" });
    this.action = h("span", { class: "acts" });
    byId("meaning").replaceChildren(this.means, " ", this.action);
    this.icon = byId("state-icon").querySelector("use");
    this.block = /** @type {HTMLElement} */ (document.querySelector(".glance"));
    this.width = 0;
    this.tallest = 0;
    this.heldFor = "";
  }

  /**
   * @param {Condition} condition @param {number} now @param {{following: boolean, lookingBack: number, fresh: number}} back
   * @param {string} [whose] of several nodes, the one that is told of
   */
  update(condition, now, back, whose = "") {
    const { store } = this;
    this.icon.setAttribute("href", `#g-${condition.icon}`);
    const flat = (/** @type {Parts} */ list) => list.map((part) => (typeof part === "string" ? part : part.b)).join("");
    const sentence = byId("sentence");
    const of = whose ? `${whose}: ` : "";
    setChildren(sentence, `${of}${condition.word}|${flat(condition.fact)}`, () => [of, h("strong", {}, condition.word), " ", ...parts(condition.fact)]);
    sentence.dataset.state = condition.id;
    const meaning = byId("meaning");
    meaning.hidden = !condition.meaning && !condition.action;
    setText(this.means, condition.meaning);
    // The words tick; what can be pressed stays, and so does the focus on it.
    const { action, also } = condition;
    const held = this.action.contains(document.activeElement);
    setChildren(this.action, `${condition.id}|${action?.text}|${also?.text}`, () => [...this.#action(action), ...(also?.act && this.acts[also.act] ? [" ", ...this.#action(also)] : [])]);
    // What was pressed has done its work and is gone: whoever goes by keyboard goes on from the sentence.
    if (held && !this.action.contains(document.activeElement)) this.#focus(this.action.querySelector("button, a") ?? sentence);
    const counts = countsLine(store, now, !ABOUT_STREAM.has(condition.id));
    setChildren(byId("counts"), flat(counts), () => parts(counts));
    const line = byId("back");
    line.hidden = back.following;
    setText(byId("back-text"), back.lookingBack > 0.5e9 ? `Looking back ${age(back.lookingBack)}.` : "Paused.");
    setText(byId("back-count"), back.fresh ? `${count(back.fresh, "new record")},` : "");
    this.#keepHeight(condition.id);
    // That it begins is over before it is said, and how things are then would have to wait.
    const text = condition.id === "starting" && !store.state ? null : this.spoken.next({
      id: condition.id, waits: condition.waits, state: `${of}${condition.word} ${flat(condition.fact)} ${condition.meaning}`.trim(),
      stops: store.state ? flat(stopsLine(store, now)) : "", newest: store.finds.at(-1)?.seq ?? null,
    }, performance.now());
    if (text !== null) setText(byId("spoken"), text);
    this.#foot(now);
  }

  /** @param {HTMLElement} element */
  #focus(element) {
    if (element.tabIndex < 0) {
      element.tabIndex = -1;
      element.addEventListener("blur", () => element.removeAttribute("tabindex"), { once: true });
    }
    element.focus();
  }

  /** @param {Condition["action"]} action @returns {(Node|string)[]} */
  #action(action) {
    const act = action?.act ? this.acts[action.act] : null;
    if (action && act) {
      const button = h("button", { type: "button", class: "button small", title: action.key ? `${action.text} (${action.key})` : null, "aria-keyshortcuts": action.key ?? null }, action.text);
      button.addEventListener("click", act);
      return [button];
    }
    // A page that stands alone has nowhere to lead to.
    if (!action || byId("main").dataset.alone !== undefined) return [];
    return [h("a", { href: action.href }, action.act ? "What this means" : action.text)];
  }

  /**
   * Room for two lines of sentence and two of counts is kept by the style sheet. If the words need
   * more the block grows, and shrinks only when the state changes: then everybody looks anyway.
   * @param {string} id
   */
  #keepHeight(id) {
    if (innerWidth !== this.width || id !== this.heldFor) {
      this.width = innerWidth;
      this.heldFor = id;
      this.tallest = 0;
      this.block.style.minHeight = "";
    }
    const { offsetHeight } = this.block;
    if (isNarrow() || offsetHeight <= this.tallest) return;
    this.tallest = offsetHeight;
    this.block.style.minHeight = `${offsetHeight}px`;
  }

  /** Somebody asked to try at once: is told so, and then what came of it. */
  trying() {
    this.spoken.asked = true;
    setText(byId("spoken"), "Trying to connect.");
  }

  /** @param {number} now */
  #foot(now) {
    const { state } = this.store;
    if (!state) return;
    const { cost, engine } = state;
    const own = `${(cost.cpu * 100).toFixed(1)}\u00a0% CPU · ${bytes(cost.rss_bytes)}`;
    const recorded = recordingWords(state.recording);
    setChildren(byId("cost"), own + recorded, () => ["plegscope", wide(" itself"), ": ", h("b", {}, own), h("span", { class: "cost-recording" }, recorded)]);
    const calls = this.#calls(now);
    setChildren(byId("calls"), calls.join("|"), () => (calls.length ? [wide("runtime "), "calls: ", h("b", {}, calls[0]), ...calls.slice(1).map((each) => ` · ${each}`)] : []));
    setText(byId("more-cost"), `${calls.length ? `Runtime calls: ${calls.join(" · ")}. ` : ""}plegscope itself: ${own}${recorded}`);
    const queue = `${engine.queue.length} of ${engine.queue.capacity}`;
    setChildren(byId("queue"), `${queue}|${engine.queue.held}`, () => ["queue ", h("b", {}, queue), engine.queue.held ? ` · ${engine.queue.held} held` : ""]);
    const by = Object.entries(engine.events).filter(([, n]) => n > 0).map(([name, n]) => `${name}\u00a0${n.toLocaleString("en-US")}`).join(" · ");
    setChildren(byId("sources"), by, () => (by ? [wide("lifecycle "), "events", wide(" by source"), ": ", h("b", {}, by)] : []));
  }

  /** What the node is asked, and which answer took longest. @param {number} now @returns {string[]} */
  #calls(now) {
    const { cost, ended } = /** @type {import("./types.js").SessionState} */ (this.store.state);
    const words = ended || !cost.calls_per_s ? [] : [`${cost.calls_per_s.toFixed(1)}/s · ${bytes(cost.bytes_per_s)}/s`];
    const worst = slowestCall(this.store, now);
    const whose = worst?.uid ? this.store.lanes.get(worst.uid)?.label : "";
    if (worst) words.push(`slowest in 60\u00a0s ${duration(worst.ns)}, ${worst.method}${whose ? ` of ${whose}` : ""}`);
    return words;
  }

  /** Row heads of the timeline. @param {number} now */
  heads(now) {
    const { state } = this.store;
    if (!state) return;
    const last = state.engine.last_global;
    setText(byId("head-global"), last && last.duration_ns !== null ? (last.ok === false ? "failed" : duration(last.duration_ns)) : "none yet");
    const { stream } = state.engine;
    const none = stream.state !== "connected" && (stream.code === "unimplemented" || stream.code === "immediate_eof");
    const stopped = wasStopped(stream);
    const words = none ? "not available" : { connected: "connected", connecting: "connecting", waiting: "down", closed: stopped ? "closed" : "given up", off: stream.policy === "relist_only" ? "left alone" : "not used" }[stream.state];
    setText(byId("head-stream"), none || stopped || stream.state === "off" ? words : `${words} ${age(now - (stream.state === "closed" ? stream.since_t : this.store.downSince ?? stream.since_t))}${stream.state === "closed" ? " ago" : ""}`);
    byId("head-stream").title = stream.meaning;
    setText(byId("head-queue-length"), `${state.engine.queue.length} of ${state.engine.queue.capacity}`);
    const typical = usual(this.store);
    const times = timesUsual(last, typical);
    const compared = typical ? [times === null ? "" : timesWords(times), "this node’s usual", duration(typical.middle)].join(" ").trim() : "";
    setText(byId("gauge-usual"), compared);
    byId("gauge-usual").title = typical ? `Median of the ${count(typical.count, "global relist")} that this page knows of; nine of ten took ${duration(typical.high)} or less.` : "";
  }
}

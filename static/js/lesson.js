// @ts-check
/**
 * A lesson's page: the panel beside a player. The panel comes from the server, step by step; what it
 * says of the timeline (which run, up to when, what is pointed out) is in its `data-facts`.
 *
 * The future is not known to the page while a question is open: the player's cursor stands where the
 * question is asked.
 *
 * @typedef {{
 *   lesson: string, number: number, count: number, kind: string,
 *   shown: {
 *     query: string, run: string, profile: string, until: number, begin: number, end: number,
 *     filter: string, points: import("./lesson-layer.js").Point[], unseen: import("./lesson-place.js").Unseen[]
 *   },
 *   ask: import("./lesson-layer.js").Ask|null
 * }} Facts
 */
import { byId, setText, setting } from "./dom.js";
import { wholeOf } from "./ending.js";
import { Answers, offerAgain } from "./lesson-answer.js";
import { LessonLayer } from "./lesson-layer.js";
import { laneHeight, rateFor } from "./lesson-place.js";
import { answerIn, opened, readProgress } from "./lesson-progress.js";
import { NodePage } from "./nodepage.js";
import { Player } from "./player.js";
import { recordWords } from "./player-bar.js";
import { fetchRun, tellProgress } from "./run.js";
import { runTime } from "./run-link.js";
import { PROFILE_HINTS } from "./lesson-words.js";

/** Nobody waits longer than this for time to pass, s. */
const PATIENCE = 2.4;
const CAPACITY = 1e6;
const STEADY = 3600e9;
/** The law is asked for so often while the cursor moves, ms. */
const LAW_EVERY = 250;

class LessonPage {
  constructor() {
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.high = 0;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.lawTimer = undefined;
    this.lawT = 0;
    this.lawShown = -1;
    /** The browser's history leads somewhere that is on its way here: the address says it already. @type {object|null} */
    this.going = null;
    /** @type {Facts} */
    this.facts = JSON.parse(this.panel.dataset.facts ?? "{}");
    const { shown } = this.facts;
    this.query = shown.query;
    this.player = new Player({ load: () => fetchRun(this.query), t: shown.until });
    this.page = new NodePage({
      source: (page) => this.player.attach(page),
      clock: /** @type {any} */ (this.player.clock),
      capacity: CAPACITY,
      steady: STEADY,
      range: () => [0, Math.max(1, this.player.duration)],
      film: () => wholeOf(this.player),
      keys: () => this.#keys(),
      // The page's own wishes are not written into the address: it holds the step.
      address: { read: () => "", write: () => (this.going ? location : new URL(this.panel.dataset.address ?? "", location.href)).search.slice(1) },
    });
    // While a moment is asked for, a click chooses it; a mark is selected at other times.
    const select = this.page.select.bind(this.page);
    this.page.select = (seq) => { if (!this.asking) select(seq); };
    // Whoever moves the window or the cursor is shown the way back.
    const moved = this.page.moved.bind(this.page);
    this.page.moved = () => {
      this.#away(true);
      moved();
    };
    const { timeline, lineup } = this.page;
    this.layer = new LessonLayer(this.page, byId("timeline"));
    Object.defineProperty(timeline, "laneHeight", {
      get: () => {
        const names = timeline.narrow ? 18 * timeline.em * lineup.rows.length : 0;
        return laneHeight((timeline.height - timeline.top - this.layer.foot - names) / timeline.em, lineup.rows.length) * timeline.em;
      },
    });
    // The lesson itself chooses the pods that it is about.
    lineup.tellsHidden = false;
    // A lane that is selected is never lower than the others.
    const arrange = lineup.arrange.bind(lineup);
    lineup.arrange = (store, at) => arrange(store, { ...at, tall: Math.max(at.tall, at.lane) });
    this.answers = new Answers(this.page, this.layer);
    this.player.onCursor.push((t) => {
      setText(byId("lesson-time"), runTime(t));
      setText(byId("lesson-record"), t === this.facts.shown.until ? "As the step shows it." : this.#newest());
      this.layer.t = t;
      this.layer.touch();
    });
    const on = (/** @type {string} */ id, /** @type {() => void} */ run) => byId(id).addEventListener("click", run);
    on("lesson-record-back", () => this.#step(-1));
    on("lesson-record-on", () => this.#step(1));
    on("lesson-return", () => this.#return());
    byId("lesson-side").addEventListener("click", (/** @type {MouseEvent} */ event) => this.#record(event));
    this.player.onLoad.push(() => this.#loaded());
    this.player.onCursor.push((t) => this.#law(t));
    this.page.timeline.canvas.addEventListener("focus", () => this.layer.touch());
    tellProgress(this.query, this.player, (text) => setText(byId("lesson-time"), text));
    document.body.addEventListener("htmx:after:swap", () => this.#swapped());
    document.body.addEventListener("htmx:response:error", (event) => this.#failed(event));
    addEventListener("popstate", () => void this.#go(`${location.pathname}${location.search}`));
    this.#show(true);
    this.loop = this.loop.bind(this);
    requestAnimationFrame(this.loop);
  }

  get panel() {
    return byId("lesson");
  }

  /** Whether a moment is being asked for. */
  get asking() {
    return this.facts.ask?.open === true;
  }

  loop() {
    requestAnimationFrame(this.loop);
    const { timeline } = this.page;
    // How high a lane is follows from how many there are, which is known after a picture only.
    if (timeline.laneHeight !== this.high) {
      this.high = timeline.laneHeight;
      timeline.invalidate();
    }
    this.layer.frame();
  }

  // The panel

  /** Something was put into the page: a step, or what a class answered. */
  #swapped() {
    this.#tally();
    const text = this.panel.dataset.facts ?? "";
    if (this.panel.dataset.taken === "yes") return;
    this.facts = JSON.parse(text);
    if (!this.going) this.#push(this.panel.dataset.address ?? "");
    this.#show(false);
    byId("lesson-side").scrollTop = 0;
    byId("lesson-title").focus({ preventScroll: true });
    // What came of an answer is what one wants to see beside the picture.
    const outcome = document.getElementById("lesson-outcome");
    const side = byId("lesson-side");
    const bounds = side.getBoundingClientRect();
    if (outcome && outcome.getBoundingClientRect().bottom > bounds.bottom) side.scrollTop = outcome.getBoundingClientRect().top - bounds.top - 12;
  }

  /** The step that the panel holds. @param {boolean} first the page has just been opened */
  #show(first) {
    this.panel.dataset.taken = "yes";
    const { facts } = this;
    this.lawShown = facts.shown.until;
    this.layer.ask = facts.ask;
    this.layer.points = facts.shown.points;
    this.layer.unseen = facts.shown.unseen;
    this.layer.until = facts.shown.until;
    this.layer.chosen = null;
    this.layer.tally = null;
    this.#tally();
    this.answers.begin(facts.ask);
    this.#pressSlider();
    this.#remember();
    byId("main").dataset.hints = PROFILE_HINTS[facts.shown.profile] ?? "none";
    const profile = document.getElementById("profile");
    if (profile) setText(profile, `profile ${facts.shown.profile}`);
    if (first) return;
    this.#say();
    document.title = `${byId("lesson-title").textContent} · plegscope`;
    if (facts.shown.query === this.query) this.#move();
    else {
      this.query = facts.shown.query;
      this.player.pause();
      this.player.t = facts.shown.until;
      setText(byId("lesson-time"), "Loading the run");
      void this.player.load();
    }
  }

  /** The run is here. */
  #loaded() {
    const { shown } = this.facts;
    if (this.player.trouble) {
      setText(byId("lesson-time"), this.player.trouble);
      return;
    }
    if (this.player.t !== shown.until) this.player.seek(shown.until);
    this.#window();
  }

  /** Let time go on to where the step is, or back to it. */
  #move() {
    const { shown } = this.facts;
    const ahead = shown.until - this.player.t;
    this.#window();
    if (ahead > 0 && !this.still.matches) this.player.play({ rate: rateFor(ahead, PATIENCE), until: shown.until });
    else this.player.seek(shown.until);
  }

  /** The time and the lanes that the step shows. */
  #window() {
    const { shown } = this.facts;
    const { page } = this;
    if (page.selected !== null) NodePage.prototype.select.call(page, null);
    page.setFilter(shown.filter);
    page.view.span = shown.end - shown.begin;
    page.view.end = shown.end;
    this.#away(false);
    page.leftAt = page.store.lastSeq;
    page.timeline.invalidate();
    this.layer.touch();
  }

  /** One record on or back; never beyond an open question. @param {-1|1} direction */
  #step(direction) {
    if (direction > 0 && this.asking && this.player.t >= this.facts.shown.until) {
      setText(byId("lesson-record"), "What comes next is the question.");
      return;
    }
    this.player.step(direction);
    this.#away(true);
    const { newest } = this.player;
    if (newest) this.page.view.reveal(newest.t, this.player.t);
    this.page.timeline.dirty = true;
  }

  /** The newest record that has happened, in words. */
  #newest() {
    const { newest } = this.player;
    if (!newest) return "Nothing has happened yet.";
    return `Record ${newest.seq}: ${recordWords(newest, this.page.store)}`;
  }

  #return() {
    this.player.seek(this.facts.shown.until);
    this.#window();
  }

  /** A thing that is pointed out is selected here; with a modifier key it is a link to its run. @param {MouseEvent} event */
  #record(event) {
    const link = event.target instanceof Element ? /** @type {HTMLElement|null} */ (event.target.closest("a[data-seq]")) : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    this.page.select(Number(link.dataset.seq));
    this.page.timeline.canvas.focus({ preventScroll: true });
  }

  /** The law goes with the cursor: it is lit while it holds. @param {number} t */
  #law(t) {
    if (byId("lesson-law").hidden || this.asking) return;
    this.lawT = Math.round(t);
    this.lawTimer ??= setTimeout(() => {
      this.lawTimer = undefined;
      if (byId("lesson-law").hidden || this.lawT === this.lawShown) return;
      this.lawShown = this.lawT;
      const address = new URL(this.panel.dataset.address ?? "", location.href);
      address.searchParams.set("t", String(this.lawT));
      void /** @type {any} */ (window).htmx.ajax("GET", `${address.pathname}/law${address.search}`, { target: "#lesson-law", swap: "outerHTML" });
    }, LAW_EVERY);
  }

  /** @param {boolean} away from what the step shows */
  #away(away) {
    byId("main").classList.toggle("away", away);
  }

  /** What came of it, for those who listen; the rest is read when the title gets the focus. */
  #say() {
    const outcome = document.getElementById("lesson-outcome")?.querySelector("h2")?.textContent ?? "";
    const law = byId("lesson-law");
    const state = law.hidden ? "" : law.querySelector("strong")?.textContent ?? "";
    setText(byId("lesson-said"), [outcome, state && `${state} ${law.querySelector(".lesson-count")?.textContent ?? ""}`].filter(Boolean).join(" "));
  }

  /** The moment of a press: where the cursor is, or what the slider says. */
  #pressSlider() {
    const slider = /** @type {HTMLInputElement|null} */ (document.getElementById("lesson-press-t"));
    if (!slider) return;
    const say = () => {
      const says = runTime(Number(slider.value));
      slider.setAttribute("aria-valuetext", says);
      setText(byId("lesson-press-says"), says);
    };
    slider.addEventListener("input", () => {
      say();
      this.player.seek(Number(slider.value));
      this.page.view.reveal(Number(slider.value), this.player.t);
    });
    say();
  }

  /** Where the class clicked, as the panel has it. */
  #tally() {
    const told = /** @type {HTMLElement|null} */ (document.querySelector("#lesson-tally [data-bins]"));
    if (!told) return;
    this.layer.tally = { bins: (told.dataset.bins ?? "").split(",").map(Number), earliest: Number(told.dataset.earliest), latest: Number(told.dataset.latest) };
    this.layer.touch();
  }

  // Where one is

  #remember() {
    const { lesson } = this.facts;
    const before = readProgress(setting(`lesson.${lesson}`));
    offerAgain(before.answers[String(this.facts.number)] ?? "");
    setting(`lesson.${lesson}`, JSON.stringify(opened(before, this.facts, answerIn(this.panel.dataset.address ?? ""))));
  }

  /** @param {string} address */
  #push(address) {
    if (address && address !== `${location.pathname}${location.search}`) history.pushState({}, "", address);
  }

  /** Where the history leads; of several, the newest. @param {string} address */
  async #go(address) {
    const going = {};
    this.going = going;
    try {
      await /** @type {any} */ (window).htmx.ajax("GET", address, { source: "#lesson-side", target: "#lesson", swap: "outerHTML" });
    } finally {
      if (this.going === going) this.going = null;
    }
  }

  /** A refusal is a page of its own. @param {Event} event */
  #failed(event) {
    const asked = /** @type {any} */ (event).detail?.ctx?.request?.action;
    if (typeof asked === "string" && asked.startsWith("/lessons/")) location.assign(asked);
  }

  /** @param {string} id */
  #press(id) {
    /** @type {HTMLElement|null} */ (document.getElementById(id))?.click();
  }

  #keys() {
    const { player } = this;
    return [
      { keys: [" "], show: "Space", what: "go on at once, or play on from here", run: (/** @type {KeyboardEvent} */ event) => { event.preventDefault(); if (player.playing) player.seek(this.facts.shown.until); else player.play(); } },
      { keys: ["l"], show: "l", what: "back to what the step shows", run: () => this.#return() },
      { keys: ["j"], show: "j", what: "next step", run: () => this.#press("lesson-next") },
      { keys: ["k"], show: "k", what: "step before", run: () => this.#press("lesson-back") },
      { keys: [","], show: ",", what: "one record back", run: () => this.#step(-1) },
      { keys: ["."], show: ".", what: "one record on", run: () => this.#step(1) },
    ];
  }
}

const lesson = new LessonPage();
// For the console and the browser tests: what the page knows.
Object.assign(/** @type {any} */ (window), { lesson, plegscope: lesson.page });

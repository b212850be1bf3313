// @ts-check
/**
 * The panel of a pod in the player: how it was where the cursor stands, and what had happened to it.
 * The server tells it; it follows the cursor while it is open.
 *
 * @typedef {import("./nodepage.js").NodePage} NodePage
 * @typedef {import("./player.js").Player} Player
 */
import { byId } from "./dom.js";
import { isNarrow } from "./palette.js";

/** How often it is asked for anew while the cursor moves, ms. */
const FOLLOW_EVERY = 800;
/** And while time goes on, ms: it is asked of the server. */
const PLAYING_EVERY = 3000;

export class PodPanel {
  /** @param {NodePage} page @param {Player} player @param {(node: number) => string} source files and node */
  constructor(page, player, source) {
    this.page = page;
    this.player = player;
    this.source = source;
    /** Whose pod is shown. */
    this.node = 0;
    this.uid = "";
    /** What is shown, or on its way. */
    this.asked = "";
    this.askedAt = 0;
    setInterval(() => this.#refresh(), FOLLOW_EVERY);
  }

  get open() {
    return !byId("panel").hidden && document.getElementById("pod-at") !== null;
  }

  /** @param {number} node @param {string} uid */
  show(node, uid) {
    this.node = node;
    this.uid = uid;
    this.page.select(null);
    // On a narrow screen it lies over the timeline, which is a tab.
    const { tab } = byId("main").dataset;
    if (isNarrow() && tab !== "timeline" && tab !== "table") /** @type {HTMLElement|null} */ (document.querySelector('.tabs [data-tab="timeline"]'))?.click();
    this.#ask("#panel-body", "innerHTML");
  }

  #query() {
    const query = new URLSearchParams(this.source(this.node));
    query.set("uid", this.uid);
    query.set("t", String(Math.round(this.player.t)));
    return query.toString();
  }

  /** @param {string} target @param {string} swap */
  #ask(target, swap) {
    const query = this.#query();
    this.asked = query;
    this.askedAt = performance.now();
    void /** @type {any} */ (window).htmx?.ajax("GET", `/replay/pod?${query}`, { target, swap });
  }

  #refresh() {
    const { player } = this;
    if (player.playing && performance.now() - this.askedAt < PLAYING_EVERY) return;
    if (this.open && player.ready && !player.wanted && this.#query() !== this.asked) this.#ask("#pod-at", "outerMorph");
  }
}

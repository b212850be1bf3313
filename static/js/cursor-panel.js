// @ts-check
/**
 * A panel of what the server tells of the moment at the cursor of a player. It follows the cursor
 * while it is open.
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

export class CursorPanel {
  /**
   * @param {NodePage} page @param {Player} player
   * @param {string} path where it is asked for @param {string} id of the element that it comes with
   * @param {() => URLSearchParams} query what is asked for, but for the time
   */
  constructor(page, player, path, id, query) {
    this.page = page;
    this.player = player;
    this.path = path;
    this.id = id;
    this.query = query;
    /** What is shown, or on its way. */
    this.asked = "";
    this.askedAt = 0;
    setInterval(() => this.#refresh(), FOLLOW_EVERY);
  }

  get open() {
    return !byId("panel").hidden && document.getElementById(this.id) !== null;
  }

  show() {
    this.page.select(null);
    // On a narrow screen it lies over the timeline, which is a tab.
    const { tab } = byId("main").dataset;
    if (isNarrow() && tab !== "timeline" && tab !== "table") /** @type {HTMLElement|null} */ (document.querySelector('.tabs [data-tab="timeline"]'))?.click();
    this.#ask("#panel-body", "innerHTML");
  }

  #wanted() {
    const query = this.query();
    query.set("t", String(Math.round(this.player.t)));
    return query.toString();
  }

  /** @param {string} target @param {string} swap */
  #ask(target, swap) {
    this.asked = this.#wanted();
    this.askedAt = performance.now();
    void /** @type {any} */ (window).htmx?.ajax("GET", `${this.path}?${this.asked}`, { target, swap });
  }

  #refresh() {
    const { player } = this;
    if (player.playing && performance.now() - this.askedAt < PLAYING_EVERY) return;
    if (this.open && player.ready && !player.wanted && this.#wanted() !== this.asked) this.#ask(`#${this.id}`, "outerMorph");
  }
}

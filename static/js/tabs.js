// @ts-check
/**
 * On narrow screens the parts of the page are tabs: Now, Timeline, Table, More. On wide ones only
 * the list of latest stops is hidden and the rest stands side by side.
 */
import { byId, glyph, h, podName, setChildren } from "./dom.js";
import { isNewStop, lateness } from "./stats.js";
import { findGlyph } from "./story.js";
import { exitMeaning, lateBy, timeOfDay } from "./words.js";

const LATEST = 8;

export class Tabs {
  /**
   * @param {import("./store.js").Store} store @param {import("./clock.js").Clock} clock @param {() => import("./words.js").Times} utc
   * @param {(view: "timeline"|"table") => void} showView @param {(seq: number) => void} select
   */
  constructor(store, clock, utc, showView, select) {
    this.store = store;
    this.clock = clock;
    this.utc = utc;
    this.select = select;
    const main = byId("main");
    // What the top bar has no room for there.
    for (const [id, of] of [["more-zone", "clock"], ["more-keys", "keys-open"]]) byId(id).addEventListener("click", () => byId(of).click());
    const buttons = [.../** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll(".tabs button"))];
    for (const button of buttons) {
      button.addEventListener("click", () => {
        const tab = button.dataset.tab ?? "timeline";
        main.dataset.tab = tab;
        for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
        // As a page of its own it scrolls, so a keyboard must get at it; else it is no stop.
        const glance = document.querySelector(".glance");
        if (tab === "now") glance?.setAttribute("tabindex", "0");
        else glance?.removeAttribute("tabindex");
        if (tab === "timeline" || tab === "table") showView(tab);
        // There the list of all marks is part of the page.
        const all = byId("legend-all");
        if (tab === "more") all.removeAttribute("popover");
        else all.setAttribute("popover", "");
      });
    }
  }

  update() {
    const list = byId("latest-list");
    if (list.offsetParent === null) return;
    /** @type {import("./lane.js").Find[]} */
    const finds = [];
    for (let i = this.store.finds.length - 1; i >= 0 && finds.length < LATEST; i -= 1) {
      if (isNewStop(this.store.finds[i])) finds.push(this.store.finds[i]);
    }
    const key = `${finds.map((find) => find.seq).join()}|${this.utc()}`;
    setChildren(list, key, () => (finds.length ? finds.map((find) => this.#item(find)) : [h("li", { class: "quiet" }, "None yet.")]));
  }

  /** @param {import("./lane.js").Find} find */
  #item(find) {
    const { rec } = find;
    const late = lateness(rec);
    const exit = typeof rec.exit_code === "number" ? `exit ${rec.exit_code}, ${exitMeaning(rec.exit_code, rec.reason).short}` : "exit not known";
    const button = h("button", { type: "button", class: "latest-item" }, glyph(findGlyph(rec)),
      h("span", { class: "latest-name" }, h("b", {}, ...podName(this.store.lanes.get(rec.uid ?? "")?.label ?? "")), h("span", { class: "sub" }, exit)),
      h("span", { class: "latest-time" }, h("b", {}, late === null ? "" : lateBy(late)), h("span", { class: "sub mono" }, timeOfDay(rec.wall, this.utc()))));
    button.addEventListener("click", () => this.select(find.seq));
    return h("li", {}, button);
  }
}

// @ts-check
/** What each key does on the node page. */
import { byId, setText } from "./dom.js";
import { title } from "./hover.js";
import { Keys, enter as goTo, leave, typing } from "./keys.js";
import { laneKeys } from "./lane-menu.js";
import { timeOfDay } from "./words.js";

/** What arrows scroll, and what is read beside the timeline: they are theirs there. */
const SCROLLS = ".scroll-x, .drawer, [popover]";

/** @param {import("./nodepage.js").NodePage} page @param {import("./keys.js").Key[]} [more] keys of the page around; they come before */
export function wireKeys(page, more = []) {
  const { timeline, view, clock } = page;
  const pan = (/** @type {number} */ share) => {
    view.pan(share * view.span, clock.now());
    page.moved();
    timeline.dirty = true;
  };
  const arrow = (/** @type {"left"|"right"|"up"|"down"} */ direction) => (/** @type {KeyboardEvent} */ event) => {
    const sideways = direction === "left" ? -0.2 : direction === "right" ? 0.2 : 0;
    if (event.target === timeline.canvas && !event.shiftKey) {
      event.preventDefault();
      page.pause();
      const item = timeline.step(direction);
      if (item) setText(byId("cursor-says"), title(page.store, item, clock.now(), (wall) => timeOfDay(wall, page.times, 3)));
    } else if (sideways && page.shownView === "timeline" && !(event.target instanceof Element && event.target.closest(SCROLLS))) {
      event.preventDefault();
      pan(sideways);
    }
  };
  const zoom = (/** @type {number} */ factor) => () => {
    const { chain } = page.chosen.timeline;
    const at = chain?.find?.t ?? chain?.rec.t ?? null;
    view.zoom(factor, clock.now(), view.following ? null : at);
    page.moved();
    timeline.dirty = true;
  };
  const taken = new Set(more.flatMap((each) => each.keys));
  /** @type {import("./keys.js").Key[]} */
  const own = [
    { keys: [" "], show: "Space", what: "pause, go on", run: (event) => { event.preventDefault(); if (view.following) page.pause(); else page.live(); } },
    { keys: ["l"], show: "l", what: "back to live", run: () => page.live() },
    { keys: ["/"], show: "/", what: "filter pods", run: (event) => { event.preventDefault(); goTo(byId("filter")); } },
    { keys: ["t"], show: "t", what: "timeline or table", run: () => page.showView(page.shownView === "table" ? "timeline" : "table") },
    { keys: ["+", "="], show: "+", what: "less time in view", run: zoom(1 / 1.5) },
    { keys: ["-", "_"], show: "−", what: "more time in view", run: zoom(1.5) },
    { keys: ["ArrowLeft"], show: "←", what: "earlier; in the timeline: the mark before", run: arrow("left"), plain: true },
    { keys: ["ArrowRight"], show: "→", what: "later; in the timeline: the mark after", run: arrow("right"), plain: true },
    { keys: ["ArrowUp"], show: "↑", what: "in the timeline: nearest mark above", run: arrow("up"), plain: true },
    { keys: ["ArrowDown"], show: "↓", what: "in the timeline: nearest mark below", run: arrow("down"), plain: true },
    { keys: ["Enter"], show: "Enter", what: "select the mark; again: zoom to its chain", run: (event) => enter(page, event), plain: true },
    { keys: ["["], show: "[", what: "the stop before", run: () => page.stepFinding(-1) },
    { keys: ["]"], show: "]", what: "the stop after", run: () => page.stepFinding(1) },
    { keys: ["n"], show: "n", what: "only pods that changed within 2 s of the selected mark", run: () => page.chosen.onlyNear() },
    ...laneKeys(() => page.laneMenu),
    { keys: ["z"], show: "z", what: "times in UTC, in this browser’s zone, or since the selected mark", run: () => page.nextZone() },
    { keys: ["?"], show: "?", what: "this sheet", run: () => byId("keys").showModal() },
    { keys: ["Escape"], show: "Esc", what: "close, clear the selection", run: () => escape(page), plain: true },
  ];
  const also = [{ keys: "Shift ← →", what: "earlier, later, from within the timeline" }];
  return new Keys([...more, ...own.filter((each) => !each.keys.some((key) => taken.has(key)))], also);
}

/** @param {import("./nodepage.js").NodePage} page @param {KeyboardEvent} event */
function enter(page, event) {
  if (event.target !== page.timeline.canvas || page.timeline.cursor === null) return;
  if (page.selected === page.timeline.cursor) page.timeline.zoomToChain();
  else page.select(page.timeline.cursor);
}

/** @param {import("./nodepage.js").NodePage} page */
function escape(page) {
  const { activeElement } = document;
  // A menu that is open closes itself, and nothing else.
  if (document.querySelector(":popover-open")) return;
  // A field is left before anything behind it is closed; one in the panel closes with it.
  if (typing(activeElement) && !activeElement?.closest(".panel, .drawer")) {
    if (activeElement === byId("filter") && page.lineup.filter) page.setFilter("");
    leave(activeElement);
    return;
  }
  if (!byId("panel").hidden) page.closePanel();
  else if (page.selected !== null) page.select(null);
  else if (activeElement instanceof HTMLElement) activeElement.blur();
}

// @ts-check
/** Buttons, fields and the pointer: what each does on the node page. */
import { wireCopies } from "./copy.js";
import { byId } from "./dom.js";

/** @param {import("./nodepage.js").NodePage} page */
export function wireControls(page) {
  const on = (/** @type {string} */ id, /** @type {string} */ name, /** @type {(event: any) => void} */ run) => byId(id).addEventListener(name, run);
  // A page with a player has its own buttons for these two.
  document.getElementById("live")?.addEventListener("click", () => page.live());
  document.getElementById("pause")?.addEventListener("click", () => page.pause());
  on("back-live", "click", () => page.live());
  on("clock", "click", () => page.nextZone());
  on("show-timeline", "click", () => page.showView("timeline"));
  on("show-table", "click", () => page.showView("table"));
  on("panel-close", "click", () => page.closePanel());
  on("filter", "input", (event) => page.setFilter(event.target.value));
  on("all-records", "change", (event) => {
    page.table.all = event.target.checked;
    page.table.update();
  });
  byId("filter").value = page.lineup.filter;
  for (const button of byId("zoom").querySelectorAll("button")) {
    button.addEventListener("click", () => page.zoomTo(Number(button.dataset.span) * 1e9));
  }
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const motion = () => { page.view.stepped = still.matches; };
  still.addEventListener("change", motion);
  motion();
  const lanes = byId("lanes");
  const hold = (/** @type {boolean} */ held) => () => { page.lineup.held = held || lanes.contains(document.activeElement) || document.activeElement === page.timeline.canvas; };
  for (const surface of [lanes, page.timeline.canvas]) {
    surface.addEventListener("pointerenter", hold(true));
    surface.addEventListener("pointerleave", hold(false));
    surface.addEventListener("focusin", hold(true));
    surface.addEventListener("focusout", () => setTimeout(hold(false)));
  }
  page.timeline.canvas.addEventListener("focus", () => { page.timeline.dirty = true; });
  page.timeline.canvas.addEventListener("blur", () => { page.timeline.dirty = true; });
  document.addEventListener("click", (event) => page.openPod(event));
  /** What the panel shows. @type {Element|null} */
  let shown = null;
  document.body.addEventListener("htmx:after:swap", () => {
    const panel = byId("panel");
    const { firstElementChild: told } = byId("panel-body");
    if (!told || (told === shown && !panel.hidden)) return;
    // Another document is read from its beginning; one that is only brought up to date stays where it is.
    shown = told;
    panel.scrollTop = 0;
    if (!panel.hidden) {
      if (!panel.contains(document.activeElement)) byId("panel-close").focus();
      return;
    }
    if (page.selected !== null) page.select(null);
    panel.hidden = false;
    // A browser remembers how far something hidden was scrolled.
    panel.scrollTop = 0;
    byId("panel-close").focus();
  });
  document.addEventListener("toggle", (/** @type {any} */ event) => {
    if (event.newState === "open" && event.target instanceof HTMLElement && event.target.popover) event.target.scrollTop = 0;
  }, true);
  addEventListener("online", () => page.source.hurry());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") return;
    page.source.hurry();
    page.timeline.dirty = true;
  });
  wireCopies();
  page.setZone(page.utc);
}

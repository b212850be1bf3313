// @ts-check
/** The panel of the first minute, and the last minutes saved by a key. */
import { byId, h, setText } from "./dom.js";

/** @typedef {"recording"|"lines"} Form */

const SAID_MS = 6000;

const FILES = { recording: "/now/recording.mcap", lines: "/now/records.jsonl" };

/**
 * What a key saves: a recording has everything, the runtime's own messages too; lines are there
 * also when nothing is recorded.
 * @param {import("./types.js").SessionState|null} state @param {boolean} lines whether lines are wanted
 * @returns {Form}
 */
export function formOf(state, lines) {
  return !lines && state?.recording?.file ? "recording" : "lines";
}

/** Say it where it is seen: beside the buttons of the panel, else over the timeline for a moment. @param {Form} form */
function tell(form) {
  const place = document.querySelector("#panel:not([hidden]) #now [data-copied]");
  const text = `The last 5 minutes as ${form === "recording" ? "a recording" : "JSON lines"}: see the downloads of this browser.`;
  document.querySelector(".saved")?.remove();
  if (place) place.textContent = text;
  else {
    const said = h("p", { class: "back saved", "aria-hidden": "true" }, text);
    byId("back").after(said);
    setTimeout(() => said.remove(), SAID_MS);
  }
}

/** @param {Form} form */
function save(form) {
  const link = h("a", { href: FILES[form], download: true, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  tell(form);
  setText(byId("spoken"), form === "recording" ? "Saving the last 5 minutes as a recording." : "Saving the last 5 minutes as JSON lines.");
}

/** Open the panel, or close it. @param {import("./nodepage.js").NodePage} page */
function toggle(page) {
  if (!byId("panel").hidden && document.getElementById("now")) {
    page.closePanel();
    return;
  }
  page.select(null);
  void /** @type {any} */ (window).htmx?.ajax("GET", "/now", { target: "#panel-body" });
}

/** The button saves what the key does; without scripts it is a link to the lines. @param {import("./nodepage.js").NodePage} page */
export function wireSave(page) {
  document.querySelector(".save-open")?.addEventListener("click", (event) => {
    event.preventDefault();
    save(formOf(page.store.state, false));
  });
}

/** @param {import("./nodepage.js").NodePage} page @returns {import("./keys.js").Key[]} */
export function nowKeys(page) {
  return [
    { keys: ["o"], show: "o", what: "what just ended, what is slow, and all containers", run: () => toggle(page) },
    { keys: ["s"], show: "s", what: "save the last 5 minutes", run: () => save(formOf(page.store.state, false)) },
    { keys: ["S"], show: "Shift s", what: "the same as JSON lines", run: () => save(formOf(page.store.state, true)) },
  ];
}

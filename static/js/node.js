// @ts-check
/** The page of a live node: what the server says over the WebSocket is what is shown. */
import { asking } from "./bins.js";
import { Connection } from "./connection.js";
import { byId } from "./dom.js";
import { Faults, faultKeys } from "./faults.js";
import { NodePage } from "./nodepage.js";
import { nowKeys, wireSave } from "./now.js";
import { recalling } from "./recall.js";

/** Where to connect to, and what to resume from. @param {NodePage} page */
function url(page) {
  const { session, since } = page.store.resume();
  const target = new URL(byId("main").dataset.stream, location.href);
  target.protocol = target.protocol === "https:" ? "wss:" : "ws:";
  if (since) {
    target.searchParams.set("since", String(since));
    target.searchParams.set("session", session);
  }
  return target.href;
}

/** Whether the server lets this page in no more: it was started again, with another token. */
async function barred() {
  if (!navigator.onLine) return false;
  try {
    return (await fetch("/api/v1/state", { cache: "no-store" })).status === 401;
  } catch {
    // It does not answer at all.
    return false;
  }
}

// Only a simulated node has faults to press.
const pressable = document.getElementById("faults") !== null;
/** @type {Faults|null} */
let faults = null;
const page = new NodePage({
  bins: asking("/api/v1/bins"),
  records: recalling("/api/v1/records"),
  keys: (shown) => [...nowKeys(shown), { keys: ["r"], show: "r", what: "without a connection: try again at once", run: () => shown.tryNow() }, ...(pressable ? faultKeys(() => faults) : [])],
  source: (shown) => new Connection({
    url: () => url(shown), barred, onMessage: (message) => shown.take(message), onLink: () => { shown.timeline.dirty = true; },
  }),
});
wireSave(page);
if (pressable) faults = new Faults(page);
// For the console and the browser tests: what the page knows.
/** @type {any} */ (window).plegscope = page;

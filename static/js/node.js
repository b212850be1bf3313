// @ts-check
/** The page of a live node: what the server says over the WebSocket is what is shown. */
import { Connection } from "./connection.js";
import { byId } from "./dom.js";
import { NodePage } from "./nodepage.js";

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

const page = new NodePage({
  source: (shown) => new Connection({
    url: () => url(shown), onMessage: (message) => shown.take(message), onLink: () => { shown.timeline.dirty = true; },
  }),
});
// For the console and the browser tests: what the page knows.
/** @type {any} */ (window).plegscope = page;

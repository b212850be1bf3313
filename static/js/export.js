// @ts-check
/**
 * An exported page: the node page, fed by a player whose records are in the page itself. There is no
 * server, so what a link would hold stands behind the `#` of the address.
 */
import { byId } from "./dom.js";
import { endingOf } from "./ending.js";
import { NodePage } from "./nodepage.js";
import { Player } from "./player.js";
import { PlayerBar, playerKeys } from "./player-bar.js";
import { pageQuery } from "./run-link.js";

const CAPACITY = 1e6;
/** How long the lanes keep their order, ns. */
const STEADY = 30e9;

/** The records that are in the page. @returns {Promise<import("./player.js").RunRecords>} */
async function embedded() {
  const text = byId("data").textContent ?? "";
  try {
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(unpacked).text());
  } catch {
    throw new Error("This file is damaged: its records cannot be read. Export it again.");
  }
}

/** A whole number behind the `#`. @param {URLSearchParams} given @param {string} name */
function whole(given, name) {
  const text = given.get(name) ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function exportPage() {
  const given = new URLSearchParams(location.hash.slice(1));
  const t = whole(given, "t");
  const player = new Player({ load: embedded, t: t ?? 0, seq: whole(given, "at") });
  /** @type {PlayerBar|null} */
  let bar = null;
  /** @type {NodePage} */
  const page = new NodePage({
    source: (shown) => player.attach(shown),
    clock: /** @type {any} */ (player.clock),
    capacity: CAPACITY,
    steady: STEADY,
    range: () => [0, Math.max(1, player.duration)],
    ending: () => endingOf(player),
    keys: () => [...playerKeys(() => bar)],
    address: {
      read: () => pageQuery(location.hash.slice(1)),
      write: (query) => link(player, page.selected, query),
      put: (text) => history.replaceState(history.state, "", `#${text}`),
    },
  });
  bar = new PlayerBar(page, player);
  player.onLoad.push(() => {
    // Whoever opens it sees all of it first.
    if (t === null && !player.trouble) player.toEnd();
  });
  // For the console and the browser tests: what the page knows.
  Object.assign(/** @type {any} */ (window), { plegscope: page, player });
}

/** What the page shows, as text behind the `#`. @param {Player} player @param {number|null} selected @param {string} query */
function link(player, selected, query) {
  const all = new URLSearchParams(query);
  all.delete("select");
  all.set("t", String(Math.round(player.t)));
  if (player.midway !== null) all.set("at", String(player.midway));
  if (selected !== null) all.set("sel", String(selected));
  return all.toString();
}

if (document.documentElement.dataset.page === "export") exportPage();

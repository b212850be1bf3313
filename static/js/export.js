// @ts-check
/**
 * An exported page: the node page, fed by a player whose records are in the page itself. There is no
 * server, so what a link would hold stands behind the `#` of the address.
 */
import { byId } from "./dom.js";
import { endingOf, wholeOf } from "./ending.js";
import { NodePage } from "./nodepage.js";
import { Player } from "./player.js";
import { PlayerBar, playerKeys } from "./player-bar.js";
import { NodePanes } from "./node-panes.js";
import { pageQuery } from "./run-link.js";
import { Together } from "./together.js";
import { WholeTape } from "./whole-tape.js";

const CAPACITY = 1e6;
/** How long the lanes keep their order, ns. */
const STEADY = 30e9;

/**
 * The records that are in the page: of one node, or of several.
 * @returns {Promise<import("./player.js").RunRecords|{nodes: import("./whole-tape.js").NodeRecords[]}>}
 */
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
  /** Of each node, the first one first; of one node none. @type {import("./tape.js").Tape[]} */
  let tapes = [];
  const load = async () => {
    const told = await embedded();
    if (!("nodes" in told)) return told;
    const names = told.nodes.map(({ name }, number) => ({ number, name, files: [] }));
    const all = told.nodes.map((node, number) => new WholeTape(node, number, names));
    const first = Math.min(whole(given, "first") ?? 0, all.length - 1);
    // All that is asked of a tape it answers.
    tapes = /** @type {any} */ ([all[first], ...all.filter((_, number) => number !== first)]);
    return new Together(tapes);
  };
  const player = new Player({ load, t: t ?? 0, seq: whole(given, "at") });
  /** @type {PlayerBar|null} */
  let bar = null;
  /** @type {NodePanes|null} */
  let panes = null;
  /** @type {NodePage} */
  const page = new NodePage({
    source: (shown) => player.attach(shown),
    clock: /** @type {any} */ (player.clock),
    capacity: CAPACITY,
    steady: STEADY,
    range: () => [0, Math.max(1, player.duration)],
    // There is nothing here that leads to incidents.
    film: () => wholeOf(player),
    ending: () => { const ending = endingOf(player); return ending && { ...ending, incidents: 0 }; },
    keys: () => [...playerKeys(() => bar)],
    address: {
      read: () => pageQuery(ownQuery(new URLSearchParams(location.hash.slice(1)))),
      write: (query) => link(player, tapes[0]?.told.node ?? 0, panes?.selected ?? page.selected, query),
      put: (text) => history.replaceState(history.state, "", `#${text}`),
    },
  });
  bar = new PlayerBar(page, player);
  panes = new NodePanes(page, player, bar, (number) => {
    const all = new URLSearchParams(location.hash.slice(1));
    all.set("first", String(number));
    for (const name of ["sel", "of"]) all.delete(name);
    location.hash = all.toString();
    location.reload();
  });
  const { words } = bar;
  bar.words = (rec) => {
    const newest = player.film instanceof Together ? player.film.newest() : null;
    return newest && panes ? `${newest.tape.told.name}: ${panes.words(newest.tape, rec)}` : words(rec);
  };
  player.onLoad.push(() => {
    if (player.film instanceof Together && panes) {
      panes.show(tapes);
      const [of, selected] = [whole(given, "of"), whole(given, "sel")];
      if (of !== null && selected !== null) panes.select(of, selected);
    }
    // Whoever opens it sees all of it first.
    if (t === null && !player.trouble) player.toEnd();
  });
  // For the console and the browser tests: what the page knows.
  Object.assign(/** @type {any} */ (window), { plegscope: page, player, panes });
}

/** What the first node's page is told: a mark of another one is not its own. @param {URLSearchParams} given */
function ownQuery(given) {
  const own = new URLSearchParams(given);
  if (own.has("of")) own.delete("sel");
  for (const name of ["of", "first"]) own.delete(name);
  return own.toString();
}

/**
 * What the page shows, as text behind the `#`.
 * @param {Player} player @param {number} first node's number @param {number|{number: number, seq: number}|null} selected @param {string} query
 */
function link(player, first, selected, query) {
  const all = new URLSearchParams(query);
  all.delete("select");
  all.set("t", String(Math.round(player.t)));
  if (player.midway !== null) all.set("at", String(player.midway));
  if (first) all.set("first", String(first));
  if (typeof selected === "number") all.set("sel", String(selected));
  else if (selected) {
    all.set("sel", String(selected.seq));
    all.set("of", String(selected.number));
  }
  return all.toString();
}

if (document.documentElement.dataset.page === "export") exportPage();

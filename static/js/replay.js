// @ts-check
/** The page of a recording: the node page, fed by a player that gets it piece by piece. */
import "./drop.js";
import { byId, setText } from "./dom.js";
import { filmPageQuery, readFilmPlace, sourceQuery, writeFilmLink } from "./film-link.js";
import { NodePage } from "./nodepage.js";
import { Player } from "./player.js";
import { PlayerBar, playerKeys } from "./player-bar.js";
import { ReplayBar, replayKeys } from "./replay-bar.js";
import { Tape } from "./tape.js";

/** Records that the page knows at most; the tape has some more around them. */
const CAPACITY = 60_000;
/** How long the lanes keep their order, ns. */
const STEADY = 30e9;
const READ_EVERY = 400;

/** @param {string} path @param {string} source @param {Record<string, string|number|boolean>} [more] */
async function ask(path, source, more = {}) {
  const query = new URLSearchParams(source);
  for (const [name, value] of Object.entries(more)) query.set(name, String(value));
  const answer = await fetch(`/api/v1/recording${path}?${query}`);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error ?? `The server answered ${answer.status}. Load this page again.`);
  return told;
}

/** @param {string} source @returns {import("./tape.js").Server} */
function serverOf(source) {
  return {
    told: (since) => ask("", source, { since }),
    piece: (number) => ask("/piece", source, { number }),
    find: async (what, seq, back, uid) => (await ask("/find", source, { what, seq, back, uid })).seq,
  };
}

function replayPage() {
  const given = location.search.slice(1);
  const source = sourceQuery(given);
  const place = readFilmPlace(given);
  const server = serverOf(source);
  /** @type {NodePage|null} */
  let page = null;
  /** @type {Tape|null} */
  let tape = null;
  const open = async () => {
    let told = await server.told(0);
    // The first piece takes a moment; so does the one that a link leads to.
    while (!told.whole && (!told.pieces.length || told.end_t < (place.t ?? 0))) {
      setText(byId("player-what"), `Reading ${told.name}: ${Math.round(told.read * 100)} %.`);
      await new Promise((resolve) => { setTimeout(resolve, READ_EVERY); });
      told = await server.told(0);
    }
    tape = new Tape(server, told, () => page?.view.span ?? 60e9);
    return tape;
  };
  const player = new Player({ load: open, t: place.t ?? 0, seq: place.seq });
  player.rate = place.rate;
  player.loop = place.loop;
  /** @type {PlayerBar|null} */
  let bar = null;
  /** @type {ReplayBar|null} */
  let more = null;
  page = new NodePage({
    source: (shown) => player.attach(shown),
    clock: /** @type {any} */ (player.clock),
    capacity: CAPACITY,
    steady: STEADY,
    range: () => [0, Math.max(1, player.duration)],
    keys: () => [...playerKeys(() => bar), ...replayKeys(() => more)],
    address: {
      read: filmPageQuery,
      write: (query) => writeFilmLink(source, {
        t: player.ready ? player.t : place.t, seq: player.midway, selected: player.ready ? page?.selected ?? null : place.selected,
        loop: player.loop, rate: player.rate, digest: tape?.told.digest ?? place.digest,
      }, query),
    },
  });
  bar = new PlayerBar(page, player);
  more = new ReplayBar(page, player, bar, () => tape, source, place.digest);
  player.onLoad.push(async () => {
    more?.loaded();
    while (tape && !tape.told.whole && !player.trouble) {
      await new Promise((resolve) => { setTimeout(resolve, READ_EVERY); });
      const since = tape.table.length;
      try {
        tape.update(await server.told(since), since);
        more?.loaded();
      } catch {
        // The next one may come; what is missing shows where it is looked for.
      }
    }
  });
  // For the console and the browser tests: what the page knows.
  Object.assign(/** @type {any} */ (window), { plegscope: page, player });
}

if (document.documentElement.dataset.page === "replay") replayPage();

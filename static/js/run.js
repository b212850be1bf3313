// @ts-check
/**
 * The page of a run that was played ahead: the node page, fed by a player.
 *
 * `fetchRun` and `tellProgress` are for other pages that show a run, such as the lessons.
 */
import { byId, setText } from "./dom.js";
import { endingOf, wholeOf } from "./ending.js";
import { NodePage } from "./nodepage.js";
import { Player } from "./player.js";
import { PlayerBar, playerKeys, progressWords } from "./player-bar.js";
import { pageQuery, readPlace, writeLink } from "./run-link.js";
import { Presses, pressKeys } from "./run-press.js";
import { firstSpan } from "./view.js";
import { unquoted } from "./words.js";

/** Records that a run may have; far more than a run of the server's has. */
const CAPACITY = 1e6;
/** How long the lanes keep their order, ns. */
const STEADY = 30e9;
const PROGRESS_EVERY = 400;

/** Get a whole run. @param {string} run the run's query @returns {Promise<import("./player.js").RunRecords>} */
export async function fetchRun(run) {
  const answer = await fetch(`/api/v1/run/records?${run}`);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error ? unquoted(told.error) : `The server answered ${answer.status}. Load this page again.`);
  return told;
}

/** Say how far it is, until it is there. @param {string} run @param {Player} player @param {(text: string) => void} say */
export function tellProgress(run, player, say) {
  const timer = setInterval(async () => {
    if (player.run || player.trouble) {
      clearInterval(timer);
      return;
    }
    try {
      const answer = await fetch(`/api/v1/run/progress?${run}`);
      const told = await answer.json();
      if (answer.ok && !player.run && !player.trouble) say(progressWords(told));
    } catch {
      // The run itself will say what is wrong.
    }
  }, PROGRESS_EVERY);
}

/** The run page, put together. */
function runPage() {
  const { run = "" } = byId("main").dataset;
  const place = readPlace(location.search.slice(1));
  const player = new Player({ load: () => fetchRun(run), t: place.t ?? 0, seq: place.seq });
  const { branches } = place;
  /** @type {PlayerBar|null} */
  let bar = null;
  /** @type {Presses|null} */
  let presses = null;
  /** @type {NodePage} */
  const page = new NodePage({
    source: (shown) => player.attach(shown),
    clock: /** @type {any} */ (player.clock),
    capacity: CAPACITY,
    steady: STEADY,
    range: () => [0, Math.max(1, player.duration)],
    film: () => wholeOf(player),
    ending: () => endingOf(player, [], "run"),
    keys: () => [...playerKeys(() => bar), ...pressKeys(() => presses)],
    address: {
      read: pageQuery,
      write: (query) => writeLink(run, { t: player.run ? player.t : place.t, seq: player.midway, selected: player.run ? page.selected : place.selected, branches }, query),
    },
  });
  bar = new PlayerBar(page, player);
  presses = new Presses(page, player, run, branches);
  tellProgress(run, player, (text) => setText(byId("player-what"), text));
  player.onLoad.push(() => {
    // A short run fills the picture, unless the link says how much of it is to be shown.
    if (!player.trouble && !new URLSearchParams(location.search).has("span")) page.view.span = firstSpan(player.duration, page.view.span);
    if (place.t !== null || player.begin.asked || player.trouble) return;
    // A link without a time is somebody's first look.
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) player.seek(Math.min(10e9, player.duration));
    else player.play();
  });
  // For the console and the browser tests: what the page knows.
  Object.assign(/** @type {any} */ (window), { plegscope: page, player });
}

if (document.documentElement.dataset.page === "run") runPage();

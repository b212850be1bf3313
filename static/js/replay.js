// @ts-check
/** The page of a recording: the node page, fed by a player that gets it piece by piece. */
import "./drop.js";
import { byId, setText } from "./dom.js";
import { endingOf } from "./ending.js";
import { filmBins, playedOf } from "./film-bins.js";
import { filmPageQuery, readFilmPlace, sourceQuery, writeFilmLink } from "./film-link.js";
import { NodePage } from "./nodepage.js";
import { Player } from "./player.js";
import { markOf } from "./node-pane.js";
import { NodePanes } from "./node-panes.js";
import { PlayerBar, playerKeys } from "./player-bar.js";
import { ReplayBar, replayKeys } from "./replay-bar.js";
import { Landing } from "./replay-land.js";
import { MomentPanel } from "./replay-now.js";
import { PodPanel } from "./pod-panel.js";
import { runTime } from "./run-link.js";
import { Tape } from "./tape.js";
import { Together } from "./together.js";
import { firstSpan } from "./view.js";
import { unquoted } from "./words.js";

/** Records that the page knows at most; the tape has some more around them. */
const CAPACITY = 60_000;
/** How long the lanes keep their order, ns. */
const STEADY = 30e9;
const READ_EVERY = 400;
/** So long before the first incident a recording is opened, ns: it is seen to happen. */
const BEFORE = 2e9;
/** Nodes that are shown together at most. */
const MOST_NODES = 8;

/** @param {string} path @param {string} source @param {Record<string, string|number|boolean>} [more] */
async function ask(path, source, more = {}) {
  const query = new URLSearchParams(source);
  for (const [name, value] of Object.entries(more)) query.set(name, String(value));
  const answer = await fetch(`/api/v1/recording${path}?${query}`).catch(() => {
    throw new Error("plegscope does not answer. Start it again with the same files, and try again.");
  });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error ? unquoted(told.error) : `The server answered ${answer.status}. Load this page again.`);
  return told;
}

/** @param {string} source @param {() => Tape|undefined} tape that is fed by it @returns {import("./tape.js").Server} */
function serverOf(source, tape) {
  const told = (/** @type {number} */ since) => ask("", source, { since });
  const found = async (/** @type {string} */ what, /** @type {number} */ seq, /** @type {boolean} */ back, /** @type {string} */ uid) => {
    const answer = await ask("/find", source, { what, seq, back, uid });
    const fed = tape();
    // The server may have read on since it was asked how far.
    if (fed && answer.seq !== null && answer.seq > fed.length) {
      const since = fed.table.length;
      const { layout } = fed.told;
      const now = await told(since);
      // What was laid out anew is taken up where that is looked for; and somebody may have heard more meanwhile.
      if (now.layout === layout && fed.told.layout === layout && now.records > fed.length) fed.update(now, since);
    }
    return answer;
  };
  return {
    told, found,
    piece: (number) => ask("/piece", source, { number }),
    find: async (what, seq, back, uid) => (await found(what, seq, back, uid)).seq,
    bins: filmBins(tape, () => source),
  };
}

/** The same files, another of their nodes. @param {string} source @param {number} node */
function sourceOf(source, node) {
  const query = new URLSearchParams(source);
  query.delete("node");
  if (node) query.set("node", String(node));
  return query.toString();
}

/** Read on until all is read. @param {() => Tape[]} tapes @param {() => boolean} stopped @param {(untrue: Tape[]) => void} more `untrue`: of what was told of these nothing holds any more */
async function readOn(tapes, stopped, more) {
  while (!stopped() && tapes().some((tape) => !tape.told.whole)) {
    await new Promise((resolve) => { setTimeout(resolve, READ_EVERY); });
    /** @type {Tape[]} */
    const untrue = [];
    for (const tape of tapes()) {
      if (tape.told.whole) continue;
      const since = tape.table.length;
      const { layout } = tape.told;
      try {
        tape.update(await tape.server.told(since), since);
        if (tape.told.layout !== layout) untrue.push(tape);
      } catch {
        // The next one may come; what is missing shows where it is looked for.
      }
    }
    more(untrue);
  }
}

function replayPage() {
  const given = location.search.slice(1);
  const source = sourceQuery(given);
  const place = readFilmPlace(given);
  /** @type {NodePage|null} */
  let page = null;
  /** Of each node that is shown, the first one first. @type {Tape[]} */
  let tapes = [];
  const span = () => page?.view.span ?? 60e9;
  /** Where it opens, as nobody says where: a moment before the first incident, if there are pods by then. */
  const opens = { asked: place.t === null && place.seq === null && place.selected === null, t: 0, why: "" };
  /** Whether all has been read up to its first incident. */
  const toIncident = () => tapes.every(({ told }) => told.whole || told.incidents.length > 0);
  const opening = () => {
    const first = Math.min(...tapes.flatMap(({ told }) => told.incidents.slice(0, 1).map(({ t }) => t)));
    if (!toIncident() || first < opens.t || first === Infinity) return opens;
    return { t: Math.max(opens.t, first - BEFORE), why: "a moment before the first incident" };
  };
  const open = async () => {
    const server = serverOf(source, () => tapes[0]);
    let told = await server.told(0);
    // The first piece takes a moment.
    while (!told.whole && !told.pieces.length) {
      setText(byId("player-what"), `Reading ${told.name}: ${Math.round(told.read * 100)} %.`);
      await new Promise((resolve) => { setTimeout(resolve, READ_EVERY); });
      told = await server.told(0);
    }
    tapes = [new Tape(server, told, span)];
    if (opens.asked && place.loop) [opens.t] = place.loop;
    else if (opens.asked) {
      // Before the first relist nothing is known of the pods.
      const relist = await server.found("relist", 0, false, "").catch(() => null);
      if (typeof relist?.t === "number") [opens.t, opens.why] = [relist.t, "after the first relist"];
    }
    const nodes = told.nodes ?? [];
    const all = place.nodes === "all" || (!place.nodes && !new URLSearchParams(source).has("node"));
    const begin = () => {
      if (!opens.asked || player.begin.asked) return;
      const { t, why } = place.loop ? opens : opening();
      player.begin = { t, seq: null, asked: false };
      if (bar) bar.why = why;
    };
    if (nodes.length < 2 || !all) {
      begin();
      return tapes[0];
    }
    for (const { number } of nodes.filter((one) => one.number !== told.node).slice(0, MOST_NODES - 1)) {
      const other = serverOf(sourceOf(source, number), () => tapes.find((tape) => tape.told.node === number));
      tapes.push(new Tape(other, await other.told(0), span));
    }
    begin();
    return new Together(tapes);
  };
  /** Whether it is known when all of them end. */
  const ended = () => tapes.every(({ told }) => told.known);
  const player = new Player({ load: open, t: place.t ?? 0, seq: place.seq, growing: () => !ended() });
  player.rate = place.rate;
  player.loop = place.loop;
  /** @type {PlayerBar|null} */
  let bar = null;
  /** @type {ReplayBar|null} */
  let more = null;
  /** @type {Landing|null} */
  let landing = null;
  /** @type {NodePanes|null} */
  let panes = null;
  page = new NodePage({
    source: (shown) => player.attach(shown),
    clock: /** @type {any} */ (player.clock),
    capacity: CAPACITY,
    steady: STEADY,
    range: () => [0, Math.max(1, player.duration)],
    ending: () => endingOf(player, tapes),
    bins: filmBins(() => tapes[0], () => source),
    film: () => playedOf(tapes[0]),
    keys: () => [...playerKeys(() => bar), ...replayKeys(() => more)],
    address: {
      read: filmPageQuery,
      write: (query) => {
        const chosen = panes?.selected;
        const aim = landing?.aim?.link ?? (player.ready ? null : { t: place.t, seq: place.seq, selected: place.selected, of: place.of ?? null });
        return writeFilmLink(source, {
          t: aim ? aim.t : player.t, seq: aim ? aim.seq : player.midway,
          selected: aim ? aim.selected : chosen?.seq ?? page?.selected ?? null, of: aim ? aim.of : chosen?.number ?? null,
          loop: player.loop, rate: player.rate, digest: tapes[0]?.told.digest ?? place.digest, nodes: place.nodes,
        }, query);
      },
    },
  });
  bar = new PlayerBar(page, player);
  panes = new NodePanes(page, player, bar, (number) => more?.first(number));
  /** The node whose mark is selected, else the first. */
  const inHand = () => panes?.selected?.number ?? tapes[0]?.told.node ?? 0;
  const story = new PodPanel(page, player, (node) => sourceOf(source, node));
  page.onPod.push((uid) => story.show(tapes[0]?.told.node ?? 0, uid));
  panes.onPod.push((node, uid) => story.show(node, uid));
  const moment = new MomentPanel(page, player, () => sourceOf(source, inHand()), (seq) => {
    const node = story.open ? story.node : inHand();
    if (node === tapes[0]?.told.node) page?.select(seq);
    else panes?.select(node, seq);
  });
  more = new ReplayBar(page, player, bar, () => tapes, source, place.digest, panes, moment);
  const share = () => tapes.reduce((all, { told }) => all + told.read, 0) / Math.max(1, tapes.length);
  landing = new Landing(player, () => ({ ended: ended(), share: share() }), (aim) => {
    if (aim.selected === null) return;
    if (aim.of === null) page?.select(aim.selected);
    else panes?.select(aim.of, aim.selected);
  });
  bar.later = (t, plays) => {
    if (!landing?.beyond(t)) return false;
    landing.wait({ t, seq: null, selected: null, of: null }, plays);
    return true;
  };
  bar.within = () => (ended() ? "" : " in what has been read so far");
  const whole = () => tapes.every(({ told }) => told.whole);
  more.onward = () => {
    const had = player.film?.incidents ?? 0;
    if (whole()) return false;
    landing?.waitFor({
      words: () => "Looking for the next incident in what is still being read.", share,
      here: () => whole() || (player.film?.incidents ?? 0) > had, go: () => void more?.incident(1),
    });
    return true;
  };
  player.onLoad.push(() => {
    if (player.trouble) return;
    if (page && (tapes[0].told.nodes ?? []).length > 1) page.lineup.mark = markOf(tapes[0].told.node);
    if (player.film instanceof Together) panes?.show(tapes);
    // A short recording fills the picture, unless the link says how much of it is to be shown.
    if (page && tapes.every((tape) => tape.told.whole) && !new URLSearchParams(given).has("span")) page.view.span = firstSpan(player.duration, page.view.span);
    more?.loaded();
    const { begin } = player;
    const aim = begin.asked ? { t: begin.t, seq: begin.seq, selected: null, of: null } : { t: place.t ?? opens.t, seq: place.seq, selected: place.selected, of: place.of ?? null };
    if (landing?.beyond(aim.t)) landing.wait(aim);
    else if (begin.asked) landing?.update();
    else if (opens.asked && !place.loop && !toIncident()) {
      landing?.waitFor({
        words: () => "Looking for the first incident in what is still being read.", share, here: toIncident,
        go: () => {
          const { t, why } = opening();
          if (t === player.t || !bar) return;
          bar.why = why;
          player.seek(t);
        },
      });
    } else {
      if (place.of !== null && place.of !== undefined && place.selected !== null) panes?.select(place.of, place.selected);
      if (aim.t > player.duration) bar?.say(`This link leads to ${runTime(aim.t)}, and the recording ends before: here is its end.`, true);
    }
    void readOn(() => tapes, () => Boolean(player.trouble), (untrue) => {
      if (player.film instanceof Together) {
        player.film.update();
        // Where it cannot be had, that is told when it is needed.
        player.film.recount(player).catch(() => {});
      }
      if (untrue.includes(tapes[0])) player.again();
      panes?.read(untrue);
      more?.loaded();
      landing?.update();
    });
  });
  // For the console and the browser tests: what the page knows.
  Object.assign(/** @type {any} */ (window), { plegscope: page, player, panes });
}

if (document.documentElement.dataset.page === "replay") replayPage();

// @ts-check
/**
 * The link of a recording: which, where the cursor is, what is selected, what is looped and how fast
 * it plays. Whoever opens it with the same file sees the same. Pure functions over text.
 *
 * `file`, `node`: which recording. `digest`: of the file, so that another one of the same name is
 * noticed. `t`: the cursor. `at`: how many records have happened, of all nodes that are shown, only
 * when some at that very time have not. `sel`: the selected record; `of`: of which node, if it is not that one. `loop`: from when to when.
 * `rate`: if it is not 1. `nodes`: `all` of them together, or `one` alone; if it does not say so, what
 * is usual is shown.
 */
import { inSeconds, readTime } from "./run-link.js";

const SOURCE = ["file", "node", "digest"];
const OWN = ["t", "at", "sel", "of", "loop", "rate", "nodes"];
const MOST_NODES = 200;
/** Ten years. */
const MOST = 3650 * 86400e9;
const MOST_RECORDS = 1e12;

/** @typedef {{t: number|null, seq: number|null, selected: number|null, loop: [number, number]|null, rate: number, digest: string, of?: number|null, nodes?: "all"|"one"|""}} FilmPlace */

/** @param {string|null} text */
function count(text) {
  if (text === null || !/^\d{1,13}$/.test(text)) return null;
  return Number(text) <= MOST_RECORDS ? Number(text) : null;
}

/** @param {string} query @returns {FilmPlace} */
export function readFilmPlace(query) {
  const given = new URLSearchParams(query);
  const [from, to] = (given.get("loop") ?? "").split("..").map((text) => readTime(text || null, MOST));
  const rate = Number(given.get("rate") ?? 1);
  return {
    t: readTime(given.get("t"), MOST),
    seq: count(given.get("at")),
    selected: count(given.get("sel")),
    loop: typeof from === "number" && typeof to === "number" && from < to ? [from, to] : null,
    rate: rate >= 0.1 && rate <= 100 ? rate : 1,
    of: (count(given.get("of")) ?? MOST_NODES) < MOST_NODES ? count(given.get("of")) : null,
    nodes: /** @type {any} */ (["all", "one"].includes(given.get("nodes") ?? "") ? given.get("nodes") : ""),
    digest: /^[0-9a-f]{16}$/.test(given.get("digest") ?? "") ? given.get("digest") ?? "" : "",
  };
}

/** What a link says of the source, for the API. @param {string} query */
export function sourceQuery(query) {
  const given = new URLSearchParams(query);
  const own = new URLSearchParams();
  for (const file of given.getAll("file")) own.append("file", file);
  if (given.get("node")) own.set("node", given.get("node") ?? "");
  return own.toString();
}

/** For the node page: what is about it, by its own names. @param {string} query */
export function filmPageQuery(query) {
  const given = new URLSearchParams(query);
  const { selected, of } = readFilmPlace(query);
  for (const name of [...SOURCE, ...OWN, "select"]) given.delete(name);
  if (selected !== null && (of ?? null) === null) given.set("select", String(selected));
  return `?${given}`;
}

/** The whole query. @param {string} source its own part of a query @param {FilmPlace} place @param {string} [page] the node page's, as it writes it */
export function writeFilmLink(source, place, page = "") {
  const rest = new URLSearchParams(page);
  rest.delete("select");
  const own = new URLSearchParams();
  if (place.digest) own.set("digest", place.digest);
  if (place.t !== null) own.set("t", inSeconds(place.t));
  if (place.seq !== null) own.set("at", String(place.seq));
  if (place.selected !== null) own.set("sel", String(place.selected));
  if (place.selected !== null && typeof place.of === "number") own.set("of", String(place.of));
  if (place.loop) own.set("loop", place.loop.map(inSeconds).join(".."));
  if (place.rate !== 1) own.set("rate", String(place.rate));
  if (place.nodes) own.set("nodes", place.nodes);
  return [source, own.toString(), rest.toString()].filter(Boolean).join("&");
}

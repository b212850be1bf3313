// @ts-check
/**
 * Bins of a recording that is played, of one of its nodes: asked of the server by what was opened.
 *
 * @typedef {import("./bins.js").Wanted} Wanted
 * @typedef {import("./bins.js").Cut} Cut
 * @typedef {import("./tape.js").Tape} Tape
 */
import { asking } from "./bins.js";

/** What the bins of a node go by: those of another table of pieces mean nothing. @param {Tape} tape */
function nameOf({ told }) {
  return `${told.digest}/${told.node}/${told.layout}`;
}

/** What is played, for a timeline. @param {Tape|null|undefined} tape @returns {import("./timeline.js").Played|null} */
export function playedOf(tape) {
  return tape ? { bins: nameOf(tape), end: tape.duration, known: tape.told.known === true } : null;
}

/**
 * Asks the server. @param {() => Tape|null|undefined} tape @param {() => string} source the query that names what was opened and the node
 * @returns {(wanted: Wanted) => Promise<Cut>}
 */
export function filmBins(tape, source) {
  return async (wanted) => {
    const shown = tape();
    if (!shown) throw new Error("bins: nothing is open");
    const cut = await asking("/api/v1/recording/bins", source())(wanted);
    if (cut.layout !== shown.told.layout) throw new Error("bins: it was read anew");
    return { ...cut, session: nameOf(shown) };
  };
}

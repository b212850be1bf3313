// @ts-check
/** The end of what is played, for the sentence at the top of the page. */

/** What is played where all of it is here. @param {import("./player.js").Player} player @returns {import("./timeline.js").Played|null} */
export function wholeOf(player) {
  return player.film ? { bins: "", end: player.duration, known: true } : null;
}

/**
 * What is told when the cursor stands at the end; null: it does not, or nothing is played.
 * @param {import("./player.js").Player} player
 * @param {import("./tape.js").Tape[]} [tapes] of each node that is shown; none: all of it is here
 * @param {"run"} [what] it is no recording
 * @returns {import("./condition.js").Ending|null}
 */
export function endingOf(player, tapes = [], what) {
  if (!player.film || player.trouble || player.state !== "following") return null;
  return {
    what, length: player.duration, incidents: player.film.incidents, whole: tapes.every((tape) => tape.told.whole),
    read: tapes.length ? tapes.reduce((all, tape) => all + tape.told.read, 0) / tapes.length : 1,
  };
}

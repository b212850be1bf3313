// @ts-check
/**
 * A link, or somebody, wants to go where the recording has not been read yet. The page is there at
 * once with what has been read, says what it waits for and how far that is, and goes there when it
 * can; whoever moves the cursor meanwhile stays where he is.
 *
 * @typedef {import("./player.js").Player} Player
 * @typedef {{t: number, seq: number|null, selected: number|null, of: number|null}} Aim
 */
import { byId, setText } from "./dom.js";
import { runTime } from "./run-link.js";

/** @param {number} t where to @param {number} read how far it has been read, ns */
export function waitWords(t, read) {
  return `Going to ${runTime(t)}, which has not been read yet: ${runTime(read)} have.`;
}

export class Landing {
  /** @param {Player} player @param {() => boolean} whole whether all has been read @param {(aim: Aim) => void} landed */
  constructor(player, whole, landed) {
    this.player = player;
    this.whole = whole;
    this.landed = landed;
    /** @type {Aim|null} */
    this.aim = null;
    this.box = byId("film-wait");
    byId("film-wait-stop").addEventListener("click", () => {
      this.#over();
      byId("scrubber").focus();
    });
    player.onCursor.push(() => this.#over());
  }

  /** Whether `t` has not been read yet. @param {number} t */
  beyond(t) {
    return t > this.player.duration && !this.whole();
  }

  /** Go there once it can be. @param {Aim} aim */
  wait(aim) {
    this.aim = aim;
    setText(byId("player-says"), `${waitWords(aim.t, this.player.duration)} The player can be used meanwhile.`);
    this.update();
  }

  /** More has been read. */
  update() {
    const { aim, player } = this;
    this.box.hidden = !aim;
    if (!aim) return;
    if (!this.beyond(aim.t)) {
      this.aim = null;
      this.box.hidden = true;
      // Those who listen are told by the move itself.
      player.land(aim.t, aim.seq);
      this.landed(aim);
      return;
    }
    setText(byId("film-wait-says"), waitWords(aim.t, player.duration));
    byId("film-wait-bar").value = Math.floor((player.duration / Math.max(1, aim.t)) * 100);
  }

  #over() {
    this.aim = null;
    this.box.hidden = true;
  }
}

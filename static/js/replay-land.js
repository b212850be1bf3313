// @ts-check
/**
 * A link, or somebody, wants to go where the recording has not been read yet: to a time, to the end,
 * to the next incident. The page is there at once with what has been read, says what it waits for and
 * how far that is, and goes there when it can; whoever moves the cursor meanwhile stays where he is.
 *
 * @typedef {import("./player.js").Player} Player
 * @typedef {{t: number, seq: number|null, selected: number|null, of: number|null}} Place
 * @typedef {{
 *   words: (read: number) => string, share: () => number, here: () => boolean, go: () => void, link?: Place
 * }} Aim `words`: what is waited for, where `read` (ns) has been read; `share`: how much of it, from
 *   0 to 1; `here`: whether one can go there; `link`: what the address says meanwhile, if not where the
 *   cursor is.
 */
import { byId, setText } from "./dom.js";
import { runTime } from "./run-link.js";

/** @param {number} t where to; Infinity: the end @param {number} read how far it has been read, ns */
export function waitWords(t, read) {
  return `Going to ${t === Infinity ? "the end" : runTime(t)}, which has not been read yet: ${runTime(read)} have.`;
}

export class Landing {
  /**
   * @param {Player} player @param {() => {ended: boolean, share: number}} read whether it is known when all of it ends, and how much of it has been read
   * @param {(place: Place) => void} landed
   */
  constructor(player, read, landed) {
    this.player = player;
    this.read = read;
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

  /** Whether `t` has not been read yet. @param {number} t Infinity: the end */
  beyond(t) {
    return t > this.player.duration && !this.read().ended;
  }

  /** Go to a time, or to the end, once it can be. @param {Place} place @param {boolean} [plays] and play from there */
  wait(place, plays = false) {
    const { player } = this;
    const { t, seq } = place;
    this.waitFor({
      words: (read) => waitWords(t, read),
      share: () => (t === Infinity ? this.read().share : player.duration / Math.max(1, t)),
      here: () => !this.beyond(t),
      go: () => {
        player.land(Math.min(t, player.duration), seq);
        this.landed(place);
        if (plays) player.play();
      },
      link: t === Infinity ? undefined : place,
    });
  }

  /** @param {Aim} aim */
  waitFor(aim) {
    this.player.pause();
    this.aim = aim;
    setText(byId("player-says"), `${aim.words(this.player.duration)} The player can be used meanwhile.`);
    this.update();
  }

  /** More has been read. */
  update() {
    const { aim, player } = this;
    this.box.hidden = !aim;
    if (!aim) return;
    if (aim.here()) {
      // Those who listen are told by the move itself.
      this.#over();
      aim.go();
      return;
    }
    setText(byId("film-wait-says"), aim.words(player.duration));
    byId("film-wait-bar").value = Math.floor(aim.share() * 100);
  }

  #over() {
    this.aim = null;
    this.box.hidden = true;
  }
}

// @ts-check
/**
 * The player's buttons, its scrubber and its keys, and what they say. The markup is `player.html`.
 *
 *     const bar = new PlayerBar(page, player);
 *     new NodePage({ …, keys: () => playerKeys(() => bar) });
 *
 * @typedef {import("./nodepage.js").NodePage} NodePage
 * @typedef {import("./player.js").Player} Player
 * @typedef {import("./keys.js").Key} Key
 */
import { byId, plain, setText } from "./dom.js";
import { enter, leave } from "./keys.js";
import { cells } from "./rows.js";
import { parseMoment, runTime } from "./run-link.js";
import { count, duration, sentence } from "./words.js";

/** A move is spoken when nothing else has been done for so long, ms: steps come in quick succession. */
const SPEAK_AFTER = 500;
const NO_POD = "Select a mark or press the name of a pod first; then its events can be stepped through.";

/** How the player is, in a word or two. @param {Player} player */
export function stateWord(player) {
  if (player.trouble) return "Not played";
  if (!player.ready) return "Loading";
  switch (player.state) {
    case "playing": return `Playing ${player.rate}×`;
    case "stepping": return "Stepping";
    case "following": return "At the end";
    default: return "Paused";
  }
}

/** A record in a few words. @param {import("./types.js").Rec} rec @param {import("./store.js").Store} store */
export function recordWords(rec, store) {
  const { what, detail } = cells(rec);
  const pod = rec.uid ? store.lanes.get(rec.uid)?.label : "";
  return [what, pod, detail].filter(Boolean).join(", ");
}

/** What is at work on the node at this moment. @param {import("./types.js").FaultAtWork[]} faults @param {number} now ns */
export function faultWords(faults, now) {
  if (!faults.length) return "";
  const words = faults.map((one) => {
    const left = one.until_t === null ? "" : ` for ${duration(Math.max(0, one.until_t - now))}`;
    return `${one.text}${one.target ? ` (${one.target})` : ""}${left}`;
  });
  return `At work: ${words.join("; ")}`;
}

export class PlayerBar {
  /** @param {NodePage} page @param {Player} player */
  constructor(page, player) {
    this.page = page;
    this.player = player;
    /** The pod whose events are stepped through: that of what was selected last, or whose name was pressed. @type {string|null} */
    this.pod = null;
    this.scrubber = /** @type {HTMLInputElement} */ (byId("scrubber"));
    this.rate = /** @type {HTMLSelectElement} */ (byId("rate"));
    /** Goes where the player cannot go yet, and plays from there if it is told to; whether it does. @type {(t: number, plays?: boolean) => boolean} */
    this.later = () => false;
    /** What the steps lead through, in a sentence that says that something is not there. */
    this.within = () => "";
    /** Why the cursor is where it is, until it moves. */
    this.why = "";
    /** The newest record in a few words. @type {(rec: import("./types.js").Rec) => string} */
    this.words = (rec) => recordWords(rec, page.store);
    /** Steps through the events of a pod that is not the player's; null: the pod is. @type {{name: () => string, step: (direction: -1|1) => Promise<boolean>}|null} */
    this.elsewhere = null;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.speaking = undefined;
    const on = (/** @type {string} */ id, /** @type {string} */ name, /** @type {(event: any) => void} */ run) => byId(id).addEventListener(name, run);
    on("play", "click", () => this.toggle());
    on("to-start", "click", () => player.toStart());
    on("to-end", "click", () => this.toEnd());
    on("step-back", "click", () => player.step(-1));
    on("step-on", "click", () => player.step(1));
    on("relist-back", "click", () => this.relist(-1));
    on("relist-on", "click", () => this.relist(1));
    on("pod-back", "click", () => this.podEvent(-1));
    on("pod-on", "click", () => this.podEvent(1));
    this.scrubber.addEventListener("input", () => player.seek(player.film?.time(Number(this.scrubber.value) * 1e6) ?? 0));
    this.scrubber.addEventListener("keydown", (event) => {
      // Its own end is where the reading has come to.
      if (event.key !== "End") return;
      event.preventDefault();
      this.toEnd();
    });
    this.rate.addEventListener("change", () => player.setRate(Number(this.rate.value)));
    on("jump", "submit", (event) => {
      event.preventDefault();
      this.jump(byId("jump-to").value);
    });
    player.onCursor.push(() => this.#moved());
    page.onSelect.push((seq) => {
      if (seq !== null) this.elsewhere = null;
      this.pod = page.timeline.chain?.lane?.uid ?? this.pod;
      this.#namePod();
    });
    page.onPod.push((uid) => {
      this.elsewhere = null;
      this.pod = uid;
      this.#namePod();
      this.say(`p and P step through the events of ${byId("player-pod").textContent} now.`, true);
    });
    player.onState.push(() => this.#changed());
    player.onLoad.push(() => this.#changed());
    this.#moved();
    this.#changed();
  }

  toggle() {
    const { player } = this;
    const { from } = player;
    if (!player.playing && from !== null && this.later(from, true)) return;
    player.toggle();
    // Whoever lets time go on wants to see it.
    if (this.player.playing) this.page.view.follow();
  }

  /** To the end, which may have to be read first. */
  toEnd() {
    if (!this.player.ready) {
      this.player.seek(Infinity);
      this.say("Going to the end once it is here.", true);
    } else if (!this.later(Infinity)) this.player.toEnd();
  }

  /** Whether there is something to step through; says so if not. */
  canStep() {
    if (!this.player.ready) this.say("Nothing is here yet to step through.", true);
    return this.player.ready;
  }

  /** @param {-1|1} direction */
  async relist(direction) {
    if (!this.canStep()) return;
    if (!(await this.player.stepRelist(direction))) this.say(direction > 0 ? `No relist ends after this${this.within()}.` : "No relist ended before this.", true);
  }

  /** @param {-1|1} direction */
  async podEvent(direction) {
    const { elsewhere } = this;
    if (!this.canStep()) return;
    if (this.pod === null && !elsewhere) this.say(NO_POD, true);
    else if (!(elsewhere ? await elsewhere.step(direction) : await this.player.stepPod(this.pod ?? "", direction))) this.say(direction > 0 ? `Nothing happens to this pod after this${this.within()}.` : "Nothing happened to this pod before this.", true);
  }

  /** To a time that was typed. @param {string} text */
  jump(text) {
    const { page, player } = this;
    const t = parseMoment(text, { t: player.t, wall: page.clock.wall(player.t), utc: page.utc });
    const input = byId("jump-to");
    input.setAttribute("aria-invalid", String(t === null));
    if (t === null) this.say(`“${plain(text)}” is no time: write it like 12.5, 1m30s, 1:30, +10s or 14:32:40.`, true);
    else {
      if (!this.later(t)) player.seek(t);
      leave(input);
    }
  }

  /** Say something to those who listen; `seen`: write it for the others too. @param {string} text @param {boolean} [seen] */
  say(text, seen = false) {
    clearTimeout(this.speaking);
    setText(byId("player-says"), text);
    if (seen) setText(byId("player-what"), text);
  }

  /** Other events are stepped through now. @param {NonNullable<PlayerBar["elsewhere"]>} elsewhere */
  stepElsewhere(elsewhere) {
    this.elsewhere = elsewhere;
    this.#namePod();
  }

  #namePod() {
    if (this.elsewhere) {
      setText(byId("player-pod"), this.elsewhere.name());
      return;
    }
    const label = this.pod === null ? null : this.page.store.lanes.get(this.pod)?.label;
    setText(byId("player-pod"), label ?? (this.pod === null ? "no pod selected" : "a pod that is not there yet"));
  }

  #moved() {
    const { page, player } = this;
    const { t, ready, newest, seq } = player;
    this.scrubber.value = String(Math.round((player.film?.place(t) ?? t) / 1e6));
    const told = ready ? `${runTime(t)} of ${runTime(player.duration)}` : "not loaded yet";
    this.scrubber.setAttribute("aria-valuetext", told.replaceAll("\u00a0", " "));
    setText(byId("player-t"), runTime(t));
    if (!ready) return;
    const { why } = this;
    this.why = "";
    const where = `Record ${seq.toLocaleString("en-US")} of ${player.total.toLocaleString("en-US")}${why && `, ${why}`}`;
    const what = newest ? this.words(newest) : "nothing has happened yet";
    setText(byId("player-what"), `${where}: ${what}`);
    setText(byId("player-faults"), faultWords(page.store.state?.faults ?? [], t));
    const [from, to] = page.view.window(t);
    if (!page.view.following && (t < from || t > to)) page.view.follow();
    page.timeline.dirty = true;
    this.#namePod();
    this.#changed();
    if (!player.playing) {
      page.writeAddress();
      clearTimeout(this.speaking);
      this.speaking = setTimeout(() => this.say(`${stateWord(player)} at ${runTime(t)}${why && `, ${why}`}. ${sentence(what)}`), SPEAK_AFTER);
    }
  }

  #changed() {
    const { player } = this;
    const word = stateWord(player);
    const main = byId("main");
    if (main.dataset.play !== player.state && player.ready) {
      if (player.playing) this.say(`${word}, from ${runTime(player.t)}.`);
      else if (main.dataset.play === "playing") this.say(`${word} at ${runTime(player.t)}.`);
    }
    main.dataset.play = player.state;
    const shown = document.getElementById("play-state");
    if (shown) setText(shown, word);
    setText(byId("play-word"), player.playing ? "Pause" : "Play");
    byId("play").disabled = !player.ready;
    const rate = String(player.rate);
    if (this.rate.value !== rate) this.rate.value = rate;
    if (player.trouble) this.say(player.trouble, true);
    else if (player.ready) this.page.writeAddress();
  }
}

/**
 * The player's keys. @param {() => PlayerBar|null} bar there is none while the page is made
 * @returns {Key[]}
 */
export function playerKeys(bar) {
  const key = (/** @type {string[]} */ keys, /** @type {string} */ show, /** @type {string} */ what, /** @type {(bar: PlayerBar) => void} */ run, plainKey = false) => ({
    keys, show, what, plain: plainKey,
    run: (/** @type {KeyboardEvent} */ event) => {
      event.preventDefault();
      const shown = bar();
      if (shown) run(shown);
    },
  });
  return [
    key([" "], "Space", "play, pause", (shown) => shown.toggle()),
    key([","], ",", "one record back", (shown) => shown.player.step(-1)),
    key(["."], ".", "one record on", (shown) => shown.player.step(1)),
    key(["<"], "<", "back to the end of the relist before", (shown) => shown.relist(-1)),
    key([">"], ">", "on to the end of the next relist", (shown) => shown.relist(1)),
    key(["P"], "P", "the selected pod’s event before", (shown) => shown.podEvent(-1)),
    key(["p"], "p", "the selected pod’s next event", (shown) => shown.podEvent(1)),
    key(["r"], "r", "faster", (shown) => shown.player.shift(1)),
    key(["R"], "R", "slower", (shown) => shown.player.shift(-1)),
    key(["j"], "j", "jump to a time", () => enter(byId("jump-to"))),
    key(["Home"], "Home", "to the start of the run", (shown) => shown.player.toStart(), true),
    key(["End"], "End", "to its end", (shown) => shown.toEnd(), true),
    key(["l"], "l", "the window back to the cursor", (shown) => shown.page.live()),
  ];
}

/** What a page says while its run is played ahead. @param {{state: string, t: number, duration_ns: number, ahead: number}} told */
export function progressWords(told) {
  if (told.state === "waiting") return told.ahead ? `Waiting for ${count(told.ahead, "other run")} that ${told.ahead === 1 ? "is" : "are"} played first.` : "Waiting to be played.";
  if (told.state === "ready") return "Played; on its way here.";
  return `Played ahead as far as ${runTime(told.t)} of ${runTime(told.duration_ns)}.`;
}

// @ts-check
/**
 * What the player of a recording has besides: the overview, incidents, the loop, markers, other
 * nodes, and what is said at the end. The markup is `replay-player.html`.
 *
 * @typedef {import("./nodepage.js").NodePage} NodePage
 * @typedef {import("./player.js").Player} Player
 * @typedef {import("./player-bar.js").PlayerBar} PlayerBar
 * @typedef {import("./keys.js").Key} Key
 * @typedef {{number: number, t: number, note: string}} Marker
 */
import { byId, h, plain, setText } from "./dom.js";
import { writeFilmLink } from "./film-link.js";
import { typing } from "./keys.js";
import { OverviewStrip } from "./overview.js";
import { stretchFields } from "./replay-export.js";
import { runTime } from "./run-link.js";
import { Together } from "./together.js";
import { count, duration, sentence, timeOfDay, unquoted, zone } from "./words.js";

/** Strips of the overview that have a height of their own. */
const MOST_ROWS = 8;
const OTHER = "This link was made for another recording than the one of this name here: what it points at may be elsewhere.";

/** The loop after its beginning, or its end, was put at `t`. @param {[number, number]|null} loop @param {"from"|"to"} which @param {number} t @param {number} end @returns {[number, number]|null} */
export function loopWith(loop, which, t, end) {
  const [from, to] = loop ?? [0, end];
  if (which === "from") return t < to ? [t, to] : t < end ? [t, end] : null;
  return t > from ? [from, t] : t > 0 ? [0, t] : null;
}

/** What is said at the end. @param {{whole: boolean, warnings: string[]}} told @param {string} when wall time */
export function endWords(told, when) {
  if (!told.whole) return "This is as far as the recording has been read; more is on its way.";
  const missing = told.warnings.length ? ` ${count(told.warnings.length, "thing")} about it ${told.warnings.length === 1 ? "is" : "are"} to be known, see above.` : "";
  return `The recording ends here, at ${when}; what came after is not known. Space plays it again, Home goes to its start.${missing}`;
}

/** Of its node. @param {import("./tape.js").Tape} tape */
function nameOf(tape) {
  return tape.told.nodes?.find((one) => one.number === tape.told.node)?.name ?? "";
}

export class ReplayBar {
  /**
   * @param {NodePage} page @param {Player} player @param {PlayerBar} bar
   * @param {() => import("./tape.js").Tape[]} tapes of each node that is shown, the first one first
   * @param {string} source @param {string} digest of the link @param {import("./node-panes.js").NodePanes} panes
   * @param {import("./replay-now.js").MomentPanel} moment
   */
  constructor(page, player, bar, tapes, source, digest, panes, moment) {
    this.page = page;
    this.player = player;
    this.bar = bar;
    this.panes = panes;
    this.moment = moment;
    this.source = source;
    this.digest = digest;
    this.tapes = tapes;
    bar.words = (rec) => this.#words(rec);
    /** @type {Marker[]} */
    this.markers = [];
    /** What is marked (t). */
    this.markT = 0;
    /** The cursor is on its way to an incident, which is told there. */
    this.toIncident = false;
    /** Waits for the next incident where not all has been read; whether it does. */
    this.onward = () => false;
    /** The export's form has the node that is shown. */
    this.markedExport = false;
    this.strip = new OverviewStrip(/** @type {any} */ (byId("overview")), {
      tapes: () => this.#named(), film: () => /** @type {any} */ (player.film), t: () => player.t, loop: () => player.loop, markers: () => this.markers,
      seek: (t) => player.seek(t), setLoop: (loop) => this.#loopOver(loop),
    });
    // Before the page does something else with it: first what was drawn last goes.
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") this.#escape(event); }, true);
    byId("incident-back").addEventListener("click", () => this.incident(-1));
    byId("incident-on").addEventListener("click", () => this.incident(1));
    byId("loop").addEventListener("click", () => this.#toggleLoop());
    byId("markers").addEventListener("toggle", (/** @type {any} */ event) => { if (event.newState === "open") this.#opened(); });
    byId("mark-form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const note = byId("mark-note");
      void this.#change({ t: Math.round(this.markT), note: note.value }).then((done) => { if (done) note.value = ""; });
    });
    for (const button of byId("export").querySelectorAll("[data-fill]")) button.addEventListener("click", () => this.#stretch(/** @type {HTMLElement} */ (button).dataset.fill ?? ""));
    document.getElementById("node-choice")?.addEventListener("change", (event) => this.#node(/** @type {HTMLSelectElement} */ (event.target).value));
    player.onCursor.push(() => this.#moved());
    player.onCursor.push(() => this.#incidentHere());
    player.onState.push(() => this.#moved());
    player.onSkip.push((from, to) => bar.say(`${this.tape()?.unrecorded(from) ? "Nothing was recorded" : "Nothing happened"} for ${duration(to - from)}: played over.`, true));
    new ResizeObserver(() => this.strip.update()).observe(byId("overview"));
    const frame = () => {
      this.strip.update();
      requestAnimationFrame(frame);
    };
    frame();
    void this.#change(null);
    this.#showLoop();
  }

  /** The recording is here, or more of it. */
  loaded() {
    const tapes = this.tapes();
    const film = /** @type {import("./tape.js").Tape|null} */ (this.player.film);
    if (!tapes.length || !film) return;
    this.bar.scrubber.max = String(Math.max(1, Math.round(film.axis.length / 1e6)));
    this.bar.scrubber.value = String(Math.round(film.place(this.player.t) / 1e6));
    const { told } = tapes[0];
    const read = tapes.reduce((all, tape) => all + tape.told.read, 0) / tapes.length;
    setText(byId("player-end"), `of ${duration(film.duration)}${tapes.every((tape) => tape.told.whole) ? "" : `, ${Math.round(read * 100)} % read`}`);
    setText(byId("incident-count"), count(film.incidents, "incident"));
    byId("overview").dataset.rows = String(Math.min(tapes.length, MOST_ROWS));
    const exported = /** @type {HTMLSelectElement|null} */ (byId("export").querySelector("select[name=node]"));
    if (exported && !this.markedExport) {
      // What is shown; whoever has chosen another one keeps it.
      exported.value = tapes.length > 1 ? "all" : String(told.node);
      this.markedExport = true;
    }
    const choice = /** @type {HTMLSelectElement|null} */ (document.getElementById("node-choice"));
    if (choice) choice.value = tapes.length > 1 ? "all" : String(told.node);
    const wrong = this.digest && this.digest !== told.digest ? [OTHER] : [];
    const lines = [...new Set([...wrong, ...tapes.flatMap((tape) => tape.told.warnings)])];
    byId("film-warnings").hidden = !lines.length;
    byId("film-warnings").replaceChildren(...lines.slice(0, 20).map((line) => h("li", {}, plain(line))));
    this.#moved();
  }

  /** @param {-1|1} direction */
  async incident(direction) {
    const { player, bar } = this;
    if (!bar.canStep()) return;
    const several = this.tapes().length > 1;
    if (!(await player.stepIncident(direction))) {
      if (direction > 0 && this.onward()) return;
      const on = several ? ", on any node" : "";
      bar.say(direction > 0 ? `No incident comes after this${on}.` : `No incident came before this${on}.`, true);
      return;
    }
    this.toIncident = true;
    if (!player.wanted) this.#incidentHere();
  }

  /** The cursor is where it was sent. */
  #incidentHere() {
    if (!this.toIncident) return;
    this.toIncident = false;
    const { player, page } = this;
    const { tape, seq } = this.#newest();
    const at = tape?.told.incidents.find((one) => one.seq === seq);
    const on = tape && this.tapes().length > 1 ? ` on ${nameOf(tape)}` : "";
    if (at) this.bar.say(`Incident${on} at ${runTime(at.t)}: ${sentence(plain(at.text))}`, true);
    page.view.reveal(player.t, player.t);
  }

  /** Whose record is the newest, and its number there. @returns {{tape: import("./tape.js").Tape|null, seq: number}} */
  #newest() {
    const { film, seq } = this.player;
    return (film instanceof Together ? film.newest() : null) ?? { tape: this.tape(), seq };
  }

  /** The newest record in a few words, with its node where there are several. @param {import("./types.js").Rec} rec */
  #words(rec) {
    const { tape } = this.#newest();
    if (!tape) return "";
    const words = this.panes.words(tape, rec);
    return this.tapes().length > 1 ? `${nameOf(tape)}: ${words}` : words;
  }

  /** @param {"from"|"to"} which */
  loop(which) {
    const { player } = this;
    // Keys that are pressed quickly mean where the last one leads.
    player.whenThere(() => this.#setLoop(loopWith(player.loop, which, player.t, player.duration)));
  }

  noLoop() {
    this.#setLoop(null);
  }

  /** A loop that was drawn begins to be played where it begins. @param {[number, number]} loop */
  #loopOver(loop) {
    const { player } = this;
    const playing = player.playing;
    const ends = /** @type {[number, number]} */ ([Math.round(loop[0]), Math.min(player.duration, Math.round(loop[1]))]);
    if (player.t < ends[0] || player.t > ends[1]) player.seek(ends[0]);
    this.#setLoop(ends);
    if (playing) player.play();
  }

  /** @param {KeyboardEvent} event */
  #escape(event) {
    const { page, player, strip } = this;
    if (strip.dragging) strip.letGo();
    else if (byId("panel").hidden && page.selected === null && this.panes.clear()) event.preventDefault();
    else if (player.loop && page.selected === null && byId("panel").hidden && !document.querySelector(":popover-open, dialog[open]")
      && !typing(event.target) && !(event.target instanceof HTMLSelectElement)) this.noLoop();
    else return;
    event.stopPropagation();
  }

  /** The first node's. @returns {import("./tape.js").Tape|null} */
  tape() {
    return this.tapes()[0] ?? null;
  }

  #named() {
    return this.tapes().map((tape) => ({ name: nameOf(tape), tape }));
  }

  #toggleLoop() {
    const [from, to] = this.page.view.window(this.player.t);
    this.#setLoop(this.player.loop ? null : loopWith([Math.max(0, from), Math.min(to, this.player.duration)], "from", Math.max(0, from), this.player.duration));
  }

  /** @param {[number, number]|null} loop */
  #setLoop(loop) {
    this.player.loop = loop;
    this.#showLoop();
    this.bar.say(loop ? `Looped from ${runTime(loop[0])} to ${runTime(loop[1])}.` : "No loop.", true);
    this.page.writeAddress();
  }

  #showLoop() {
    const { loop } = this.player;
    byId("loop").setAttribute("aria-pressed", String(loop !== null));
    setText(byId("loop-words"), loop ? `${runTime(loop[0])} – ${runTime(loop[1])}` : "off");
  }

  toggleExport() {
    byId("export").togglePopover();
  }

  /** What is exported: all of it, what is shown, or the loop. @param {string} which */
  #stretch(which) {
    const { page, player } = this;
    const says = /** @type {HTMLElement} */ (byId("export").querySelector("[data-says]"));
    if (which === "loop" && !player.loop) {
      setText(says, "Nothing is looped: drag over the overview, or press i and o.");
      return;
    }
    const stretch = which === "shown" ? page.view.window(player.t) : which === "loop" ? player.loop : null;
    const { from, to } = stretchFields(stretch, player.duration);
    for (const [name, value] of Object.entries({ from, to })) /** @type {HTMLInputElement} */ (byId("export").querySelector(`[name=${name}]`)).value = value;
    setText(says, from || to ? `From ${from || "the beginning"} to ${to || "the end"}.` : "All of it.");
  }

  toggleMarkers() {
    byId("markers").togglePopover();
  }

  #opened() {
    byId("mark-note").focus();
    // What is played goes on while the note is written: it is of this moment.
    this.player.whenThere(() => {
      this.markT = this.player.t;
      setText(byId("mark-t"), runTime(this.markT));
    });
  }

  /** @param {{t: number, note: string}|{remove: number}|null} change null: only ask */
  async #change(change) {
    try {
      const answer = await fetch(`/api/v1/recording/markers?${this.source}`, change
        ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(change) } : {});
      const told = await answer.json();
      setText(byId("mark-trouble"), unquoted(answer.ok ? told.trouble : told.error));
      if (!answer.ok) return false;
      this.markers = told.markers;
      this.#list();
      return true;
    } catch {
      setText(byId("mark-trouble"), "The server does not answer. Start plegscope again, and mark once more.");
      return false;
    }
  }

  #list() {
    setText(byId("markers-count"), String(this.markers.length));
    byId("marker-list").replaceChildren(...this.markers.map((one) => {
      const go = h("button", { type: "button", class: "button small" }, `${runTime(one.t)}`);
      go.addEventListener("click", () => { if (!this.bar.later(one.t)) this.player.seek(one.t); });
      const remove = h("button", { type: "button", class: "button small", "aria-label": `Remove: ${plain(one.note)}` }, "Remove");
      remove.addEventListener("click", () => {
        byId("mark-note").focus();
        void this.#change({ remove: one.number });
      });
      return h("li", {}, h("span", {}, plain(one.note)), go, remove);
    }));
    this.strip.key = "";
  }

  /** A node alone (its number), or all of them ("all"). @param {string} choice */
  #node(choice) {
    if (choice === "all") this.first(this.tape()?.told.node ?? 0);
    else this.#go(this.#sourceOf(Number(choice)), "one");
  }

  /** Show another node first, with the others below. @param {number} number */
  first(number) {
    this.#go(this.#sourceOf(number), "all");
  }

  /** @param {number} number of a node */
  #sourceOf(number) {
    const query = new URLSearchParams(this.source);
    query.delete("node");
    if (number) query.set("node", String(number));
    return query.toString();
  }

  /** @param {string} query files and node @param {"all"|"one"} nodes */
  #go(query, nodes) {
    const { page, player } = this;
    const shown = { t: player.t, seq: null, selected: null, loop: player.loop, rate: player.rate, digest: this.tape()?.told.digest ?? "", nodes };
    const rest = new URLSearchParams(location.search);
    for (const name of ["file", "node", "digest", "t", "at", "sel", "of", "loop", "rate", "nodes"]) rest.delete(name);
    page.select(null);
    location.assign(`${location.pathname}?${writeFilmLink(query, shown, rest.toString())}`);
  }

  #moved() {
    const { player, page } = this;
    const tape = this.tape();
    const end = byId("film-end");
    const ended = tape !== null && player.state === "following";
    end.hidden = !ended;
    if (ended) setText(end, endWords({ whole: !player.growing(), warnings: tape.told.warnings }, `${timeOfDay(page.clock.wall(player.t), page.times, 3)} ${zone(page.times)}`));
    this.strip.update();
  }
}

/** @param {() => ReplayBar|null} bar @returns {Key[]} */
export function replayKeys(bar) {
  const key = (/** @type {string} */ name, /** @type {string} */ what, /** @type {(bar: ReplayBar) => void} */ run) => ({
    keys: [name], show: name, what,
    run: (/** @type {KeyboardEvent} */ event) => {
      event.preventDefault();
      const shown = bar();
      if (shown) run(shown);
    },
  });
  return [
    key("e", "the next incident", (shown) => void shown.incident(1)),
    key("E", "the incident before", (shown) => void shown.incident(-1)),
    key("[", "the stop before", (shown) => { if (!shown.panes.step(-1)) shown.page.stepFinding(-1); }),
    key("]", "the stop after", (shown) => { if (!shown.panes.step(1)) shown.page.stepFinding(1); }),
    key("i", "the loop begins here", (shown) => shown.loop("from")),
    key("o", "the loop ends here", (shown) => shown.loop("to")),
    key("x", "no loop; Esc too, where nothing else is open", (shown) => shown.noLoop()),
    key("m", "markers; mark this time", (shown) => shown.toggleMarkers()),
    key("w", "how it was here: what had ended, what was slow, what there was", (shown) => shown.moment.toggle()),
    key("s", "export it, or a part of it", (shown) => shown.toggleExport()),
  ];
}

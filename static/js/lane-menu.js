// @ts-check
/**
 * How the lanes are arranged, by the reader's hand: the menu above them, the buttons in their heads,
 * and the keys. What is chosen here holds for the table too, as far as it has lanes.
 *
 * @typedef {import("./nodepage.js").NodePage} NodePage
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {import("./keys.js").Key} Key
 */
import { byId, h, setText } from "./dom.js";
import { readSort, SORTS } from "./lane-order.js";
import { toggled } from "./lineup.js";
import { count } from "./words.js";

/** What differs from the usual, for the menu's button. @param {import("./lineup.js").Lineup} lineup */
function menuWords(lineup) {
  return [
    lineup.sort === "activity" ? "" : `by ${SORTS.find(({ id }) => id === lineup.sort)?.name}`,
    lineup.group === "none" ? "" : "grouped",
    lineup.pins.length ? `${lineup.pins.length} pinned` : "",
    lineup.quietFolded ? "quiet folded" : "",
  ].filter(Boolean).join(", ");
}

export class LaneMenu {
  /** @param {NodePage} page */
  constructor(page) {
    this.page = page;
    this.lineup = page.lineup;
    const { lineup } = this;
    this.sort = byId("sort");
    this.sort.append(...SORTS.map(({ id, name }) => h("option", { value: id }, name)));
    this.group = byId("group");
    this.quiet = byId("quiet");
    this.unfold = byId("unfold");
    const rows = byId("rows");
    rows.value = page.timeline.density;
    this.sort.addEventListener("change", () => this.setSort(readSort(this.sort.value)));
    this.group.addEventListener("change", () => {
      lineup.group = this.group.value;
      this.#again(`Pods ${lineup.group === "none" ? "in one list" : "grouped by namespace"}.`);
    });
    rows.addEventListener("change", () => {
      page.timeline.density = rows.value;
      this.#changed("");
    });
    this.quiet.addEventListener("change", () => this.foldQuiet(this.quiet.checked));
    this.unfold.addEventListener("change", () => this.unfoldAll(this.unfold.checked));
    byId("unpin").addEventListener("click", () => {
      lineup.pins = [];
      this.#changed("No pod is pinned.");
      this.sort.focus();
    });
    const menu = byId("lanes-menu");
    menu.addEventListener("toggle", () => {
      const from = byId("lanes-open").getBoundingClientRect();
      menu.style.top = `${from.bottom + 6}px`;
      menu.style.left = `${Math.max(8, Math.min(from.left, innerWidth - menu.offsetWidth - 8))}px`;
    });
    this.#show();
  }

  /** What is chosen, in the menu. */
  #show() {
    const { lineup } = this;
    this.sort.value = lineup.sort;
    this.group.value = lineup.group;
    this.quiet.checked = lineup.quietFolded;
    this.unfold.checked = lineup.allUnfolded;
    setText(byId("lanes-chosen"), menuWords(lineup));
    byId("pinned").hidden = !lineup.pins.length;
    setText(byId("pinned-count"), count(lineup.pins.length, "pinned pod"));
  }

  /** @param {string} said for those who hear the page */
  #changed(said) {
    const { page } = this;
    this.#show();
    // Also where the same lanes stay: what their heads say is another thing.
    page.timeline.rowsKey = "";
    page.timeline.invalidate();
    page.table.update();
    page.writeAddress();
    if (said) setText(byId("cursor-says"), said);
  }

  /** The reader wants another order: at once, wherever the pointer is. @param {string} said */
  #again(said) {
    this.lineup.resort();
    this.#changed(said);
  }

  /** @param {import("./lane-order.js").Sort} sort */
  setSort(sort) {
    this.lineup.sort = sort;
    this.#again(`Pods by ${SORTS.find(({ id }) => id === sort)?.name}.`);
  }

  nextSort() {
    const at = SORTS.findIndex(({ id }) => id === this.lineup.sort);
    this.setSort(SORTS[(at + 1) % SORTS.length].id);
  }

  nextGroup() {
    this.group.value = this.group.value === "none" ? "namespace" : "none";
    this.group.dispatchEvent(new Event("change"));
  }

  /** @param {boolean} folded */
  foldQuiet(folded) {
    this.lineup.quietFolded = folded;
    this.#again(folded ? "Quiet pods are folded away." : "Quiet pods are shown.");
  }

  /** Fold a pod's containers out, or in again. @param {Lane|null} lane @param {import("./lineup.js").Lineup} [its] of the node it is on */
  fold(lane, its = this.lineup) {
    if (!lane) return this.#none();
    const { lineup } = this;
    const key = its.keyOf(lane);
    const open = its.isOpen(lane);
    // One that is folded in after all were folded out: the others stay out, as far as a link holds them.
    if (lineup.allUnfolded) {
      lineup.allUnfolded = false;
      const others = [this.page, ...this.page.besides].flatMap((one) => one.lineup.rows.flatMap((row) => (row.open && row.lane && row.lane !== lane ? [one.lineup.keyOf(row.lane)] : [])));
      lineup.unfolded = others.reduce((/** @type {string[]} */ list, each) => (list.includes(each) ? list : toggled(list, each)), []);
    } else if (!open && !lane.parts.size) return this.#changed(`No container of ${lane.label} is known.`);
    else lineup.unfolded = toggled(lineup.unfolded, key);
    const names = [...lane.parts.keys()];
    return this.#changed(open ? `${lane.label} is folded.` : `${count(names.length, "container")} of ${lane.label}: ${names.join(", ")}.`);
  }

  /** @param {boolean} unfolded */
  unfoldAll(unfolded) {
    this.lineup.allUnfolded = unfolded;
    if (!unfolded) this.lineup.unfolded = [];
    this.#changed(unfolded ? "The containers of all pods are shown." : "All pods are folded.");
  }

  /** Keep a pod on top, or no longer. @param {Lane|null} lane @param {import("./lineup.js").Lineup} [its] of the node it is on */
  pin(lane, its = this.lineup) {
    if (!lane) return this.#none();
    const key = its.keyOf(lane);
    this.lineup.pins = toggled(this.lineup.pins, key);
    return this.#changed(`${lane.label} ${this.lineup.pins.includes(key) ? "stays on top" : "is no longer on top"}.`);
  }

  #none() {
    setText(byId("cursor-says"), "Point at a pod’s name, or select a mark, first.");
  }

  /** Show what was folded away, or hidden. @param {import("./lineup.js").Fold} fold */
  unhide(fold) {
    if (fold === "quiet") this.foldQuiet(false);
    else if (fold === "near") this.page.onlyNear();
    else this.page.setFilter("");
  }

  /**
   * The pod at hand, of whichever node: its head has the focus or the pointer, or its mark is selected or under the cursor.
   * @param {(lane: Lane|null, its: import("./lineup.js").Lineup) => void} act
   */
  atHand(act) {
    const { page } = this;
    const parts = [page, ...page.besides];
    /** @type {((part: import("./nodepage.js").Part) => Lane|null|undefined)[]} */
    const ways = [
      ({ labels }) => labels.focused(), ({ labels }) => labels.hovered(), ({ timeline }) => timeline.chain?.lane,
      ({ timeline, store }) => store.lanes.get((timeline.cursor === null ? null : store.record(timeline.cursor))?.uid ?? ""),
    ];
    for (const way of ways) {
      for (const part of parts) {
        const lane = way(part);
        if (lane) {
          act(lane, part.lineup);
          return;
        }
      }
    }
    act(null, page.lineup);
  }
}

/** @param {() => LaneMenu} menu @returns {Key[]} */
export function laneKeys(menu) {
  return [
    { keys: ["g"], show: "g", what: "group by namespace", run: () => menu().nextGroup() },
    { keys: ["v"], show: "v", what: "order of the pods: latest activity, name, restarts, slowest detection", run: () => menu().nextSort() },
    { keys: ["c"], show: "c", what: "containers of the pod at hand; on its name also → and ←", run: () => menu().atHand((lane, its) => menu().fold(lane, its)) },
    { keys: ["C"], show: "Shift c", what: "containers of all pods", run: () => menu().unfoldAll(!menu().lineup.allUnfolded) },
    { keys: ["u"], show: "u", what: "keep the pod at hand on top", run: () => menu().atHand((lane, its) => menu().pin(lane, its)) },
    { keys: ["h"], show: "h", what: "fold quiet pods away, or show them", run: () => menu().foldQuiet(!menu().lineup.quietFolded) },
  ];
}

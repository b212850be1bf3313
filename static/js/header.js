// @ts-check
/** Everything on the node page that is words or small pictures, brought up to date together. */
import { condition, hangsSince } from "./condition.js";
import { byId, h, setText } from "./dom.js";
import { total } from "./legend.js";
import { told, usual } from "./stats.js";
import { timeOfDay, zone } from "./words.js";

export class Header {
  /** @param {import("./nodepage.js").NodePage} page */
  constructor(page) {
    this.page = page;
    /** Nothing comes from the server. */
    this.lost = true;
    this.title = document.title;
  }

  /** Among other tabs, or on a second screen, the title is all that is seen of a page. @param {import("./condition.js").Condition} how */
  #entitle(how) {
    if (this.page.options.clock !== undefined) return;
    const title = how.icon === "ok" ? this.title : `${how.word.replace(/[.,]$/, "")} · ${this.title}`;
    if (document.title !== title) document.title = title;
  }

  update() {
    const { page } = this;
    const { store, clock, view } = page;
    const now = clock.now();
    if (performance.now() > page.laggingUntil) page.lagging = 0;
    const typical = usual(store);
    const pods = [...store.lanes.values()].filter((lane) => lane.goneT === null).length;
    const hangs = hangsSince(store.state, now);
    const next = page.source.nextTry?.() ?? null;
    const how = condition({
      told: hangs === null ? 0 : told(store, hangs),
      state: store.state, now, link: page.source.link, silence: clock.silence(), online: navigator.onLine,
      farewell: page.source.farewell, lagging: page.lagging, lost: page.lost, usual: typical?.middle ?? null, pods, downSince: store.downSince, opening: store.opening(now),
      next: next === null ? null : next * 1e6, barred: page.source.barred === true, trouble: page.source.trouble, ending: page.options.ending?.() ?? null,
      played: page.options.clock !== undefined,
    });
    this.lost = how.waits !== undefined;
    // What is frozen does not tick: nothing is known after it.
    const seen = page.frozenT() ?? now;
    const [from, to] = view.window(seen);
    byId("main").dataset.state = how.id;
    byId("main").dataset.link = page.source.link;
    this.#entitle(how);
    // A player stands still most of the time: what matters there is whether its cursor is in sight.
    const here = view.following || (page.options.clock !== undefined && now >= from && now - to < view.span * 0.03);
    page.writeZone();
    page.glance.update(how, seen, { following: here, lookingBack: now - to, fresh: here || page.options.clock ? 0 : store.lastSeq - page.leftAt }, page.name);
    page.glance.heads(seen);
    page.gauge.update(store.state, seen, typical, how.id === "recorded");
    page.trend.update(store, seen, typical);
    page.distribution.update(store, seen);
    const { stores, of } = page.counted();
    const outlined = [page, ...page.besides].filter((part) => stores.includes(part.store)).map((part) => part.timeline.outlined(from, to));
    page.legend.update(stores, from, to, total(outlined), of);
    page.table.update();
    page.tabs.update();
    page.minimap.update();
    if (page.selected !== null) page.drawer.show(page.timeline.chain, now);
    if (store.state) {
      setText(byId("clock"), `${timeOfDay(clock.wall(seen), page.times)} ${zone(page.times)}`);
      const runtime = store.state.runtime;
      const what = store.state.simulated && runtime ? `like ${runtime.name} ${(runtime.version ?? "").split("+")[0]}` : store.state.endpoint;
      // A page with a title of its own there, a lesson's say, keeps it.
      if (byId("watched").dataset.own === undefined) {
        setText(byId("watched").querySelector(".watched-more"), ` · ${what}`);
        byId("watched").title = `${store.state.endpoint} (${store.state.endpoint_reason})`;
      }
    }
    this.#empty(pods);
    for (const button of byId("zoom").querySelectorAll("button")) button.setAttribute("aria-pressed", String(Math.abs(view.span / 1e9 - Number(button.dataset.span)) < 0.5));
    document.getElementById("live")?.setAttribute("aria-pressed", String(view.following));
    const pause = document.getElementById("pause");
    pause?.setAttribute("aria-pressed", String(!view.following));
    if (pause) setText(pause, view.following ? "Pause" : "Paused");
  }

  /** What the lanes say when there are none. @param {number} pods */
  #empty(pods) {
    const { page } = this;
    const box = byId("empty");
    const { state } = page.store;
    const played = page.options.clock !== undefined;
    let [bold, text] = ["", ""];
    if (!state || state.engine.health.last_start_t === null) text = played ? "Before the first relist nothing is known of the pods." : "Asking the runtime for everything.";
    else if (page.lineup.filter && !page.lineup.rows.length) {
      bold = `No pod matches “${page.lineup.filter}”.`;
      text = `${page.lineup.hidden} ${page.lineup.hidden === 1 ? "pod is" : "pods are"} hidden by the filter.`;
    } else if (pods === 0 && !page.lineup.rows.length) [bold, text] = ["No pods on this node.", "Global relists run; there is nothing to find."];
    box.hidden = !text || page.lineup.rows.length > 0;
    // On a narrow screen the lanes are one tab of several: the others say it too.
    const unmatched = byId("unmatched");
    unmatched.hidden = box.hidden || !page.lineup.filter || page.besides.some(({ lineup }) => lineup.rows.some((row) => row.lane));
    byId("main").toggleAttribute("data-unmatched", !unmatched.hidden);
    if (box.hidden || box.dataset.text === bold + text) return;
    box.dataset.text = bold + text;
    for (const place of [box, unmatched]) {
      const clear = h("button", { type: "button", class: "button small" }, "Clear filter");
      clear.addEventListener("click", () => page.setFilter(""));
      place.replaceChildren(h("span", {}, bold ? h("strong", {}, bold) : "", bold ? " " : "", text), page.lineup.filter ? clear : "");
    }
  }
}

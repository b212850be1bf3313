// @ts-check
/** The page of comparisons: the form, and (when the address asks for one) the comparison itself. */
import { ComparePage, asked, clockOf, writeHead } from "./compare-page.js";
import { boundChoice } from "./compare-form.js";
import { byId, setText } from "./dom.js";
import { startTheme } from "./theme.js";
import { unquoted } from "./words.js";

const ASK_EVERY_MS = 250;

/** How far the runs are, in words. @param {{state: string, t: number, duration_ns: number}[]} runs */
export function progressWords(runs) {
  const ready = runs.filter(({ state }) => state === "ready").length;
  const playing = runs.find(({ state }) => state === "playing");
  if (playing) return `Playing run ${ready + 1} of ${runs.length}: ${clockOf(playing.t)} of ${clockOf(playing.duration_ns)}.`;
  return ready === runs.length ? "All runs are played; comparing them." : `${ready} of ${runs.length} runs are played.`;
}

/** From 0 to 1. @param {{state: string, t: number, duration_ns: number}[]} runs */
export function progressShare(runs) {
  return runs.reduce((sum, { state, t, duration_ns }) => sum + (state === "ready" ? 1 : t / duration_ns), 0) / Math.max(1, runs.length);
}

/** @param {AbortSignal} done */
async function follow(done) {
  while (!done.aborted) {
    await new Promise((resolve) => { setTimeout(resolve, ASK_EVERY_MS); });
    if (done.aborted) return;
    const answer = await fetch(`/api/v1/compare/progress?${asked()}`).catch(() => null);
    if (done.aborted || !answer?.ok) continue;
    const { runs } = await answer.json();
    if (done.aborted) return;
    setText(byId("progress-words"), progressWords(runs));
    byId("progress-bar").value = progressShare(runs);
  }
}

async function start() {
  startTheme();
  for (const form of document.querySelectorAll("form.choose")) boundChoice(/** @type {HTMLFormElement} */ (form));
  if (byId("main").dataset.asked !== "yes") return;
  const done = new AbortController();
  byId("progress").hidden = false;
  follow(done.signal);
  try {
    const answer = await fetch(`/api/v1/compare?${asked()}`);
    const report = await answer.json();
    if (!answer.ok) throw new Error(unquoted(report.error));
    writeHead(report);
    byId("progress").hidden = true;
    /** @type {any} */ (globalThis).plegscope = new ComparePage(report);
  } catch (error) {
    byId("progress-bar").hidden = true;
    const why = error instanceof Error && !(error instanceof TypeError) ? error.message : "plegscope does not answer. Load this page again.";
    setText(byId("progress-words"), why);
    setText(byId("sentence"), "This cannot be compared.");
  } finally {
    done.abort();
  }
}

if (typeof document !== "undefined") start();

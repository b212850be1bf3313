// @ts-check
/**
 * The form of an export. Without scripts it is sent as it is, and the browser keeps what comes. With
 * them it says how far it is, can be cancelled, and a refusal is a sentence beside the button.
 */
import { plain, setText } from "./dom.js";
import { inSeconds } from "./run-link.js";
import { count, unquoted } from "./words.js";

const ASK_EVERY = 500;
const MIB = 1024 * 1024;

/** @typedef {{name: string, records: number, bytes: number}} Making */

/** How far the exports are. @param {Making[]} making */
export function makingWords(making) {
  return making.map(({ records, bytes }) => {
    const written = bytes ? `, ${(bytes / MIB).toFixed(bytes < 10 * MIB ? 1 : 0)}\u00a0MiB written` : "";
    return `${count(records, "record")} read${written}`;
  }).join("; ");
}

/** Name of the file that an answer is. @param {string|null} disposition */
export function fileName(disposition) {
  return /filename="([^"]+)"/.exec(disposition ?? "")?.[1] ?? "plegscope-export";
}

/** What a stretch fills in: from when, to when; none: all of it. @param {[number, number]|null} stretch ns @param {number} end ns */
export function stretchFields(stretch, end) {
  if (!stretch) return { from: "", to: "" };
  const [from, to] = stretch;
  return { from: from <= 0 ? "" : inSeconds(Math.floor(from)), to: to >= end ? "" : inSeconds(Math.ceil(to)) };
}

/** Keep a file. @param {Blob} blob @param {string} name */
function keep(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** @param {HTMLFormElement} form */
function wireExport(form) {
  const part = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (form.querySelector(selector));
  const says = part("[data-says]");
  const cancel = part("[data-cancel]");
  const go = /** @type {HTMLButtonElement} */ (part("[type=submit]"));
  /** @type {AbortController|null} */
  let running = null;
  cancel.addEventListener("click", () => running?.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running) return;
    const asked = new AbortController();
    running = asked;
    const had = cancel.contains(document.activeElement) || document.activeElement === go;
    go.disabled = true;
    cancel.hidden = false;
    if (had) cancel.focus();
    setText(says, "Beginning.");
    const timer = setInterval(() => void tell(), ASK_EVERY);
    const tell = async () => {
      try {
        const answer = await fetch("/api/v1/exports", { signal: asked.signal });
        const told = await answer.json();
        if (running === asked && told.exports.length) setText(says, `${makingWords(told.exports)}.`);
      } catch {
        // The export itself says what is wrong.
      }
    };
    try {
      const query = new URLSearchParams(/** @type {any} */ (new FormData(form)));
      const answer = await fetch(`${form.action}?${query}`, { signal: asked.signal, headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(unquoted(plain((await answer.json()).error)));
      const name = fileName(answer.headers.get("Content-Disposition"));
      const blob = await answer.blob();
      keep(blob, name);
      setText(says, `${name}: ${(blob.size / MIB).toFixed(1)}\u00a0MiB.`);
    } catch (error) {
      const broke = error instanceof TypeError ? "It broke off. Is plegscope still running, and the recording still there? Export it again." : String(error instanceof Error ? error.message : error);
      setText(says, asked.signal.aborted ? "Cancelled." : broke);
    } finally {
      clearInterval(timer);
      running = null;
      go.disabled = false;
      const held = document.activeElement === cancel;
      cancel.hidden = true;
      if (held) go.focus();
    }
  });
}

if (typeof document !== "undefined") for (const form of document.querySelectorAll("form[data-export]")) wireExport(/** @type {HTMLFormElement} */ (form));

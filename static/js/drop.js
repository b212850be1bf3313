// @ts-check
/** A recording that is dropped on the page, or chosen in a form, is sent to plegscope and opened. */
import { plain, setText } from "./dom.js";
import { unquoted } from "./words.js";

/** @param {string} text */
function say(text) {
  const place = document.getElementById("drop-says");
  if (place) setText(place, text);
}

/** Send a file and open it. @param {File} file @param {(href: string) => void} [go] */
export async function open(file, go = (href) => location.assign(href)) {
  say(`${plain(file.name)} is on its way.`);
  try {
    const answer = await fetch(`/api/v1/recordings/dropped?${new URLSearchParams({ name: file.name })}`, {
      method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file,
    });
    const told = await answer.json();
    if (answer.ok) go(`/replay?${new URLSearchParams({ file: told.name })}`);
    else say(unquoted(told.error));
  } catch {
    say("The file did not get there. Is plegscope still running? Otherwise start plegscope replay with its path.");
  }
}

function wire() {
  const form = /** @type {HTMLInputElement|null} */ (document.getElementById("drop-file"));
  form?.addEventListener("change", () => { if (form.files?.[0]) void open(form.files[0]); });
  const files = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => { if (files(event)) event.preventDefault(); });
  document.addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (file) void open(file);
  });
}

if (typeof document !== "undefined" && document.querySelector("[data-drop]")) wire();

// @ts-check
/**
 * Links whose target is copied when they are pressed: `data-copy="link"` copies the address,
 * `data-copy="content"` what is there, `data-copy="text"` the text that follows the link's paragraph. Without scripts, or with a modifier key, they are links.
 */

/** What becomes of a file is known to the browser only. */
export const SAVED = "Saved as a file: see the downloads of this browser.";

/** @param {HTMLAnchorElement} link */
async function textOf(link) {
  if (link.dataset.copy === "link") return link.href;
  if (link.dataset.copy === "text") return link.closest("p")?.nextElementSibling?.textContent ?? "";
  const answer = await fetch(link.href);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.text();
}

/** Where it is said that something was copied: near the link, else nowhere. @param {Element} link */
function sayBeside(link) {
  const place = link.closest("article")?.querySelector("[data-copied]");
  return (/** @type {string} */ text) => { if (place) place.textContent = text; };
}

/** @param {MouseEvent} event */
function pressed(event) {
  const saved = event.target instanceof Element ? event.target.closest("a[download]") : null;
  if (saved) sayBeside(saved)(SAVED);
  const link = event.target instanceof Element ? event.target.closest("a[data-copy]") : null;
  if (!(link instanceof HTMLAnchorElement)) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  const say = sayBeside(link);
  say("");
  textOf(link).then((text) => navigator.clipboard.writeText(text)).then(
    () => say("Copied."),
    () => say("That could not be copied: open the link in a new tab instead."),
  );
}

export function wireCopies() {
  document.addEventListener("click", pressed);
}

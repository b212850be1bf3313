// @ts-check
/** The list of lessons: how far this browser is with each. */
import { setText, setting } from "./dom.js";
import { readProgress } from "./lesson-progress.js";
import { progressWords } from "./lesson-words.js";
import { startTheme } from "./theme.js";

startTheme();
for (const item of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-lesson]"))) {
  const { lesson = "", steps = "1" } = item.dataset;
  const progress = readProgress(setting(`lesson.${lesson}`));
  const words = item.querySelector("[data-progress]");
  if (words) setText(words, progressWords(progress, Number(steps)));
  const begin = /** @type {HTMLAnchorElement|null} */ (item.querySelector("[data-begin]"));
  if (begin && progress.step > 1 && !progress.done && progress.step <= Number(steps)) {
    begin.search = `?step=${progress.step}`;
    begin.setAttribute("aria-label", `Resume at step ${progress.step}: ${item.querySelector("h2")?.textContent ?? ""}`);
    setText(begin, `Resume at step ${progress.step}`);
  }
}

// @ts-check
/** The page of somebody who takes part in a class: the slider says its moment in words. */
import { setText } from "./dom.js";
import { duration } from "./words.js";

/** @param {Event} event */
function said(event) {
  const slider = event.target;
  if (!(slider instanceof HTMLInputElement) || slider.id !== "lesson-at") return;
  const given = Number(slider.value) >= Number(slider.dataset.earliest);
  const words = given ? duration(Number(slider.value) - Number(slider.dataset.since)) : "not set, and not needed";
  slider.setAttribute("aria-valuetext", given ? `${words} after ${slider.dataset.call}` : words);
  const output = document.getElementById("lesson-at-says");
  if (output) setText(output, words);
}

document.addEventListener("input", said);

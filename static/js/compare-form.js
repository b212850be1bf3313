// @ts-check
/** The form's profiles: as many can be ticked as fit side by side, and how many are is said. */
import { setText } from "./dom.js";

const FEWEST = 2;

/** How many are chosen, and what may be done about it. @param {number} number @param {number} most */
export function chosenWords(number, most) {
  if (number < FEWEST) return `(${number} chosen: choose ${FEWEST} or ${most})`;
  if (number > most) return `(${number} chosen: untick ${number - most} of them)`;
  return number < most ? `(${number} chosen: there is room for one more)` : `(${number} chosen: untick one to choose another)`;
}

/** Keep the form from asking for what cannot be compared. @param {HTMLFormElement} form */
export function boundChoice(form) {
  const most = Number(form.dataset.most);
  const boxes = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input[name=profile]")]);
  const said = /** @type {HTMLElement} */ (form.querySelector(".chosen-number"));
  const update = () => {
    const number = boxes.filter(({ checked }) => checked).length;
    // Where a link named too many they can only be taken away.
    for (const box of boxes) box.disabled = !box.checked && number >= most;
    setText(said, chosenWords(number, most));
    const first = boxes.find(({ disabled }) => !disabled);
    for (const box of boxes) box.setCustomValidity("");
    if (number < FEWEST || number > most) first?.setCustomValidity(`Choose ${FEWEST} or ${most} profiles; ${number} ${number === 1 ? "is" : "are"} chosen.`);
  };
  form.addEventListener("change", update);
  update();
}

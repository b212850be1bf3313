// @ts-check
/** The button for colours: as the system has them, light, dark. */
import { setting } from "./dom.js";

const NAMES = /** @type {const} */ ({ "": "as the system has them", light: "light", dark: "dark" });

export function startTheme() {
  const button = document.getElementById("theme");
  if (!button) return;
  const root = document.documentElement;
  const say = () => {
    const now = /** @type {keyof typeof NAMES} */ (root.dataset.theme ?? "");
    button.setAttribute("aria-label", `Colours: ${NAMES[now]}`);
    button.title = `Colours: ${NAMES[now]}`;
  };
  button.addEventListener("click", () => {
    const systemLight = matchMedia("(prefers-color-scheme: light)").matches;
    // From the system's colours to the other ones first, so that the first press shows something.
    const order = systemLight ? ["", "dark", "light"] : ["", "light", "dark"];
    const next = order[(order.indexOf(root.dataset.theme ?? "") + 1) % 3];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    setting("theme", next || null);
    say();
  });
  say();
}

// @ts-check
/** Pages that are documents: nothing runs there but the choice of colours. */
import { wireCopies } from "./copy.js";
import { startTheme } from "./theme.js";

startTheme();
wireCopies();

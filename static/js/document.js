// @ts-check
/** Pages that are documents: nothing runs there but the choice of colours. */
import { startTheme } from "./theme.js";

startTheme();

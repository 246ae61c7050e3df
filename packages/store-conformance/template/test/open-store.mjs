import { openExampleStore } from '../dist/index.js';

/** Opens the store in another process: the kit starts, stops and kills such processes. */
export const openStore = (root) => openExampleStore({ root });

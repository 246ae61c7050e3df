import { rowKinds } from '@hansard/views';

const kinds = rowKinds.map(
  (kind) => `<label><input type="checkbox" value="${kind}" checked> ${kind}</label>`,
);

/** The controls of a task page. Shown by its script. */
export const pageBar = `<form id="bar" role="search" hidden>
<input id="find" type="search" placeholder="Find in all rows" aria-label="Find in all rows" autocomplete="off"><kbd>/</kbd>
<label class="choice">agent <select id="agents"><option value="">all</option></select></label>
<label class="choice"><input id="failed" type="checkbox"> failed only</label>
<fieldset id="kinds"><legend>Kinds</legend>${kinds.join('')}</fieldset>
<output id="shown" aria-live="polite"></output>
<span class="keys"><kbd>j</kbd> <kbd>k</kbd> next and previous row, <kbd>f</kbd> next failure, <kbd>Esc</kbd> clears</span>
</form>`;

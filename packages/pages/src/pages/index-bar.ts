/** The control of an index. Shown by its script. */
export const indexBar = `<form id="bar" role="search" hidden>
<input id="find" type="search" placeholder="Find a session" aria-label="Find a session" autocomplete="off"><kbd>/</kbd>
<output id="shown" aria-live="polite"></output>
</form>`;

/** The script of an index: find. Without it the whole index is shown. */
export const indexScript = `'use strict';
(() => {
  const find = document.getElementById('find'), shown = document.getElementById('shown');
  const rows = [...document.querySelectorAll('tbody tr')].map((row) => ({
    row, section: row.closest('section.task'),
    text: (row.textContent + ' ' + row.closest('section.task').querySelector('h2').textContent).toLowerCase(),
  }));
  document.getElementById('bar').hidden = false;
  const apply = () => {
    const words = find.value.trim().toLowerCase().split(/\\s+/);
    const open = new Set();
    let count = 0;
    for (const { row, section, text } of rows) {
      const isShown = words.every((word) => text.includes(word));
      row.hidden = !isShown;
      if (isShown) { open.add(section); count += 1; }
    }
    const isAll = find.value.trim() === '';
    for (const section of document.querySelectorAll('section.task')) section.hidden = !isAll && !open.has(section);
    shown.textContent = isAll ? '' : count.toLocaleString('en') + ' of ' + rows.length.toLocaleString('en') + ' sessions';
  };
  find.addEventListener('input', apply);
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') { find.value = ''; find.blur(); apply(); }
    else if (event.key === '/' && event.target !== find) { event.preventDefault(); find.focus(); }
  });
})();
`;

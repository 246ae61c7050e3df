/**
 * The script of a task page: find, filters, keys, and rows that are unfolded when they are needed. The page works without it up to the
 * packed rows. It loads nothing, and the only HTML that it makes elements of is the packed HTML of the page.
 */
export const pageScript = `'use strict';
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);
  const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
  const bar = $('#bar'), find = $('#find'), shown = $('#shown'), agents = $('#agents'), failed = $('#failed');
  const kinds = $$('#kinds input');
  bar.hidden = false;

  const opening = new Map();
  const read = async (part) => {
    const bytes = Uint8Array.from(atob(part.textContent), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    const rows = document.createElement('ol');
    rows.className = 'rows happened';
    rows.innerHTML = await new Response(stream).text();
    return { part, rows };
  };
  const place = ({ part, rows }) => {
    part.className = 'group';
    part.replaceChildren(rows);
    addAgents(rows);
  };
  const open = (part) => {
    if (!opening.has(part)) opening.set(part, read(part).then(place));
    return opening.get(part);
  };
  const openAll = async () => {
    const closed = $$('.part').filter((part) => !opening.has(part));
    const all = Promise.all(closed.map(read)).then((read) => read.forEach(place));
    for (const part of closed) opening.set(part, all);
    await Promise.all(opening.values());
  };
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) { near.unobserve(target); open(target); }
  }, { rootMargin: '1500px' });
  $$('.part').forEach((part) => near.observe(part));

  const known = new Set();
  function addAgents(from) {
    for (const name of new Set($$('.row', from).map((row) => row.dataset.agent))) {
      if (known.has(name)) continue;
      known.add(name);
      agents.append(new Option(name, name));
    }
  }
  addAgents(document);

  const isAll = () => find.value.trim() === '' && agents.value === '' && !failed.checked && kinds.every((box) => box.checked);
  let latest = 0;
  const apply = async () => {
    const turn = ++latest;
    if (!isAll() && $('.part')) { shown.textContent = 'reading…'; await openAll(); }
    if (turn !== latest) return;
    const words = find.value.trim().toLowerCase();
    const on = new Set(kinds.filter((box) => box.checked).map((box) => box.value));
    const rows = $$('.row');
    let count = 0;
    for (const row of rows) {
      const isShown = (agents.value === '' || row.dataset.agent === agents.value)
        && (!failed.checked || row.classList.contains('failed'))
        && on.has(row.classList[1])
        && (words === '' || row.textContent.toLowerCase().includes(words));
      if (row.hidden === isShown) row.hidden = !isShown;
      if (isShown) count += 1;
    }
    // A group without rows takes no room, so that the browser does not lay out all others.
    for (const group of $$('.group')) group.hidden = !isAll() && $('.row:not([hidden])', group) === null;
    for (const fold of $$('li.fold')) {
      const hasRow = $('.row:not([hidden])', fold) !== null;
      fold.hidden = !hasRow;
      $('details', fold).open = hasRow && !isAll();
    }
    shown.textContent = isAll() ? '' : count.toLocaleString('en') + ' of ' + rows.length.toLocaleString('en') + ' rows';
  };
  let waiting;
  find.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(apply, 150); });
  for (const field of [agents, failed, ...kinds]) field.addEventListener('change', apply);

  const focus = (row) => { row.focus({ preventScroll: true }); row.scrollIntoView({ block: 'center' }); };
  const step = (by, isWanted = () => true) => {
    const rows = $$('.row:not([hidden])').filter((row) => isWanted(row) && row.closest('li.fold > details:not([open])') === null);
    if (rows.length === 0) return;
    const at = rows.indexOf(document.activeElement?.closest?.('.row'));
    focus(rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))]);
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === find && event.key === 'Enter') { event.preventDefault(); apply().then(() => step(1)); return; }
    if (event.key === 'Escape') { find.value = ''; find.blur(); apply(); return; }
    if (event.target.matches('input, select, textarea')) return;
    if (event.key === '/') { event.preventDefault(); find.focus(); }
    else if (event.key === 'j') step(1);
    else if (event.key === 'k') step(-1);
    else if (event.key === 'f') step(1, (row) => row.classList.contains('failed') || row === document.activeElement);
    else if (event.key === 'Enter') { const fold = $('details', event.target); if (fold && event.target.matches('.row')) fold.open = !fold.open; }
  });

  const jump = async () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const [, scope, position] = /^(d\\d+)-(\\d+)$/.exec(id) ?? [];
    if (scope === undefined) return;
    if (!document.getElementById(id)) {
      const before = $$('.part[data-scope="' + scope + '"]').filter((part) => Number(part.dataset.first) <= Number(position));
      if (before.length > 0) await open(before.at(-1));
      if (!document.getElementById(id)) await openAll();
    }
    const target = document.getElementById(id);
    if (!target) return;
    for (let fold = target.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    const row = target.closest('.row');
    if (row) { row.hidden = false; row.closest('.group').hidden = false; focus(row); }
  };
  addEventListener('hashchange', jump);
  jump();
})();
`;

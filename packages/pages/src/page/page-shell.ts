import { rowKinds } from '@hansard/views';
import { escapeHtmlInLine } from '../html-text.ts';
import { policyHash } from './page-rows.ts';

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

/** The style sheet of a task page. Agents are identified by name; colour is only an aid. */
const pageStyle = `
:root { color-scheme: light dark; --ground: #fdfcfa; --card: #f3f1ec; --line: #dfdbd3; --ink: #1d1c1a; --dim: #625e57; --accent: #7a4b12;
  --bad: #b3261e; --good: #2e6b3f; --notice: #8a5a00; --add: #dff1e2; --del: #fbe1dd;
  --a0: #3454ad; --a1: #98386a; --a2: #1a6f6d; --a3: #7d5f0a; --a4: #5d4aa0; --a5: #2f6b2f; }
@media (prefers-color-scheme: dark) { :root { --ground: #16171a; --card: #212328; --line: #33363d; --ink: #e8e6e1; --dim: #a5a199; --accent: #d9a25b;
  --bad: #ff8a80; --good: #86c99a; --notice: #ffc46b; --add: #16301d; --del: #3f1e1b;
  --a0: #8fa8f0; --a1: #e58fb8; --a2: #6fcac7; --a3: #d8bb5c; --a4: #b3a2ee; --a5: #95cf8b; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 8rem; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 76rem; margin: 0 auto; padding: 0 1.5rem 1.5rem; }
header { position: sticky; top: 0; z-index: 1; background: var(--ground); border-bottom: 1px solid var(--line); padding: .75rem 0; }
h1 { font-size: 1.3rem; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
form { display: flex; flex-wrap: wrap; gap: .3rem .9rem; align-items: center; font-size: .85rem; }
form[hidden] { display: none; }
input[type=search], select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .35rem; padding: .2rem .5rem; max-width: 16rem; }
fieldset { display: flex; flex-wrap: wrap; gap: .1rem .7rem; border: 0; margin: 0; padding: 0; }
legend { position: absolute; clip-path: inset(50%); }
output { color: var(--accent); }
.keys, kbd { color: var(--dim); font-size: .78rem; }
kbd { border: 1px solid var(--line); border-radius: .2rem; padding: 0 .25rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.started { white-space: nowrap; } td.model { font-size: .85rem; color: var(--dim); overflow-wrap: anywhere; max-width: 16rem; } td:first-child { min-width: 14rem; overflow-wrap: anywhere; } section.task[hidden], tr[hidden] { display: none; } nav { font-size: .85rem; margin: .3rem 0; overflow-wrap: anywhere; } small { color: var(--dim); overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
${Array.from({ length: 13 }, (_, depth) => `td.in${depth} { padding-left: ${(depth * 1.2).toFixed(1)}em; }`).join('\n')}
.scroll { overflow-x: auto; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .9rem; margin: .5rem 0 1rem; }
dl.facts dt { color: var(--dim); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
details.lens { margin: .75rem 0; }
details.lens > summary { font-weight: 600; cursor: pointer; }
a { color: var(--accent); }
ol.rows { list-style: none; margin: .5rem 0; padding: 0; }
ol.rows > li { display: grid; grid-template-columns: minmax(5rem, 12rem) 1fr; gap: .1rem .75rem; padding: .35rem .25rem; border-bottom: 1px solid var(--line); }
ol.rows > li.row { grid-template-columns: 4.2rem 7.5rem minmax(0, 1fr) auto; }
ol.rows > li.group, ol.rows > li.note { display: block; padding: 0; border: 0; } li.group { content-visibility: auto; contain-intrinsic-size: auto 1500rem; } li.group > ol { margin: 0; }
ol.rows > li[hidden] { display: none; }
ol.rows > li:target, li.row:focus { background: var(--card); box-shadow: inset 3px 0 var(--accent); outline: 0; }
ol.rows > li.fold { display: block; } .fold > details > summary { cursor: pointer; color: var(--dim); }
ol.rows > li.day { display: block; color: var(--dim); font-size: .85rem; padding-top: .8rem; }
ol.rows > li.part { display: block; height: 60rem; background: repeating-linear-gradient(var(--ground) 0 2.3rem, var(--line) 2.3rem 2.35rem); }
ol.rows > li > * { min-width: 0; }
ol.happened > .failed { box-shadow: inset 3px 0 var(--bad); }
time, .kind, .heard, .at, .fig, .label, .quiet { color: var(--dim); font-size: .85rem; }
.at { text-decoration: none; } time, .fig { font-variant-numeric: tabular-nums; }
.fig { text-align: right; white-space: nowrap; }
.who { font-weight: 600; overflow-wrap: anywhere; }
${Array.from({ length: 6 }, (_, at) => `.a${at} { color: var(--a${at}); }`).join(' ')}
${Array.from({ length: 4 }, (_, at) => `.d${at + 1} { padding-left: ${0.6 * (at + 1)}rem; border-left: 2px solid currentColor; }`).join(' ')}
.word { color: var(--dim); font-size: .85rem; } .call .word { color: inherit; font-weight: 600; font-size: 1em; }
.said .prose { font-size: 1.02rem; } .thought .prose { color: var(--dim); font-style: italic; }
.failed .word, .bad { color: var(--bad); } .good { color: var(--good); } .notice, .decision { color: var(--notice); }
.noise { font-size: .9rem; } .noise .word, .noise .who { visibility: hidden; } .noise .who { height: 1.4em; overflow: hidden; } .noise .word { position: absolute; }
.event > .what > .plain { background: none; font: inherit; padding: 0; }
.what > code { overflow-wrap: anywhere; } code, .code, pre { font: .85rem/1.45 ui-monospace, Menlo, monospace; }
.text, .outcome, .target, .code, .altered { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
.code, pre { background: var(--card); padding: .3rem .55rem; border-radius: .3rem; margin: .25rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.what > .outcome { border-left: 2px solid var(--line); padding-left: .5rem; white-space: normal; }
.diff > * { display: block; margin: 0 -.55rem; padding: 0 .55rem; text-decoration: none; }
ins { background: var(--add); text-decoration: none; } del { background: var(--del); text-decoration: none; }
.fields { font-size: .85rem; color: var(--dim); overflow-wrap: anywhere; } .fields span { margin-right: .8rem; } .fields i { opacity: .8; }
.prose { overflow-wrap: anywhere; } .prose > * { margin: .35rem 0; } .prose h1, .prose h2, .prose h3 { font-size: 1.05rem; border: 0; padding: 0; }
.prose blockquote { border-left: 3px solid var(--line); margin-left: 0; padding-left: .75rem; color: var(--dim); } .prose table { width: auto; }
.folded > summary, .long > summary { cursor: pointer; color: var(--dim); overflow-wrap: anywhere; }
.folded ol { list-style: none; padding: 0 0 0 .75rem; margin: .2rem 0; font-size: .85rem; overflow-wrap: anywhere; }
.result { border-left: 3px solid var(--good); padding-left: .75rem; margin: .75rem 0; }
svg.flow { display: block; font-size: .8rem; } .flow text { fill: var(--ink); } .flow .lane { text-anchor: middle; font-weight: 600; } .flow .rail { stroke: var(--line); }
.flow .heard, .flow .other, .flow .stopped { fill: none; stroke: var(--ink); stroke-width: 1.3; } .flow .other { stroke: var(--notice); stroke-dasharray: 5 3; } .flow .stopped { stroke: var(--bad); stroke-dasharray: 2 3; }
.flow .place { text-anchor: end; fill: var(--accent); } .flow .unknown { text-anchor: middle; fill: var(--dim); } .flow .said { fill: var(--ink); }
${Array.from({ length: 6 }, (_, at) => `.flow .a${at} { fill: var(--a${at}); }`).join(' ')}
img.observed { max-width: 100%; max-height: 24rem; display: block; }
footer { margin-top: 3rem; color: var(--dim); font-size: .85rem; }
@media (max-width: 44rem) {
  td:first-child { min-width: 9rem; } td.model, th:nth-child(4), td.started, th:nth-child(3), td:nth-child(5), th:nth-child(5), td:nth-child(6), th:nth-child(6), td:nth-child(8), th:nth-child(8) { display: none; }
  body { padding: 0 .75rem 1rem; } .keys { display: none; } header { position: static; } html { scroll-padding-top: 1rem; }
  ol.rows > li, ol.said > li { display: flex; flex-wrap: wrap; align-items: baseline; }
  ol.rows > li.row { display: grid; grid-template-columns: auto 1fr auto; } .row > .what { grid-column: 1 / -1; grid-row: 2; }
  ol.rows > li > div { flex-basis: 100%; }
}
@media print { header { position: static; } form, nav, .part { display: none !important; } li.group { content-visibility: visible; } details::details-content { content-visibility: visible; block-size: auto; } a { color: inherit; } }
`;

interface PageStart {
  /** Foreign text. */
  readonly title: string;
  /** The links above the title, as HTML. */
  readonly links?: string;
  /** The controls of the script, as HTML. */
  readonly bar: string;
  /** The only script of the page. */
  readonly script: string;
}

/** A page up to its content. Its content security policy allows one style and one script, by their hashes, and nothing from elsewhere. */
export async function pageStart({ title, links = '', bar, script }: PageStart): Promise<string> {
  const shown = escapeHtmlInLine(title);
  const policy = [
    "default-src 'none'",
    `style-src ${await policyHash(pageStyle)}`,
    `script-src ${await policyHash(script)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${shown}</title>
<style>${pageStyle}</style>
</head>
<body>
<header>${links}<h1 dir="auto">${shown}</h1>${bar}</header>
<main>
`;
}

/** The rest of a page after its content. */
export function pageEnd(script: string): string {
  return `</main>\n<footer>Written by Hansard. Times are UTC.</footer>\n<script>${script}</script>\n</body>\n</html>\n`;
}

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

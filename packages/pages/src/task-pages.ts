import type { DispatchEnvelope, FileSink, TaskSource } from '@hansard/events';
import {
  type DispatchReport,
  envelopeOf,
  type ReportOptions,
  type ReportRow,
  readDispatchReports,
  settlingRows,
  taskTitle,
} from './dispatch-report.ts';
import { escapeHtmlInLine } from './html-text.ts';
import { rowList, sectionEnd, sectionStart } from './page/dispatch-section.ts';
import { PageRows } from './page/page-rows.ts';
import { pageBar, pageEnd, pageScript, pageStart } from './page/page-shell.ts';
import { anchorOf, pageTree } from './page-tree.ts';

/** The control of an index. Shown by its script. */
const indexBar = `<form id="bar" role="search" hidden>
<input id="find" type="search" placeholder="Find a session" aria-label="Find a session" autocomplete="off"><kbd>/</kbd>
<output id="shown" aria-live="polite"></output>
</form>`;

/** The script of an index: find. Without it the whole index is shown. */
const indexScript = `'use strict';
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

const longest = 80;

/** The names of the index, and of devices on Windows. */
const reserved = /^(?:index|con|prn|aux|nul|com\d|lpt\d)$/;

export interface TaskPagesOptions extends ReportOptions {
  /** How many events of a dispatch a file has at most; the others follow in further files. Absent: 100,000. */
  readonly eventsPerFile?: number;
}

const eventsPerFileByDefault = 100_000;

/**
 * Tasks as HTML files: `index.html` with a table of the dispatches of each task, and for each dispatch a file, or several if it is long.
 * Each is a page like that of `writeTaskPage`, with links to the index, to the dispatches above and below, and to its other files. `open`
 * creates a file; its name has at most one folder. Two files are open at a time.
 */
export async function writeTaskPages(
  sources: AsyncIterable<TaskSource>,
  open: (name: string) => FileSink,
  options: TaskPagesOptions = {},
): Promise<{
  readonly tasks: number;
  readonly dispatches: number;
  readonly files: number;
}> {
  const folders = new PageNames();
  const index = open('index.html');
  const counts = { tasks: 0, dispatches: 0, files: 1 };
  await index.write(await pageStart({ title: 'Sessions', bar: indexBar, script: indexScript }));
  for await (const source of sources) {
    const title = taskTitle(source);
    const folder = folders.nameFor(source.taskDir.replace('/tasks/', '/'));
    const task = { source, title, folder, names: namesOf(source.envelopes) };
    const files = new Map<string, readonly string[]>();
    for await (const report of readDispatchReports(source, options)) {
      const written = await writeDispatch(report, task, open, options);
      files.set(envelopeOf(report).dispatchId, written);
      counts.dispatches += 1;
      counts.files += written.length;
    }
    counts.tasks += 1;
    const hrefs = ({ dispatchId }: DispatchEnvelope) =>
      (files.get(dispatchId) ?? []).map((name) => `${folder}/${name}`);
    await index.write(
      `<section class="task"><h2 dir="auto">${escapeHtmlInLine(title)}</h2>\n${pageTree(source, hrefs)}</section>\n`,
    );
  }
  await index.write(pageEnd(indexScript));
  await index.end();
  return counts;
}

interface WrittenTask {
  readonly source: TaskSource;
  readonly title: string;
  readonly folder: string;
  /** The name of the first file of each dispatch, without its ending. */
  readonly names: ReadonlyMap<string, string>;
}

function namesOf(envelopes: readonly DispatchEnvelope[]): ReadonlyMap<string, string> {
  const names = new PageNames();
  return new Map(envelopes.map(({ dispatchId }) => [dispatchId, names.nameFor(dispatchId)]));
}

/** Writes the files of a dispatch. Returns their names. */
async function writeDispatch(
  report: DispatchReport,
  task: WrittenTask,
  open: (name: string) => FileSink,
  { eventsPerFile = eventsPerFileByDefault, onLeftOut }: TaskPagesOptions,
): Promise<readonly string[]> {
  const envelope = envelopeOf(report);
  const name = task.names.get(envelope.dispatchId) ?? '';
  const rows = new RowRun(settlingRows(report));
  const files: string[] = [];
  try {
    do {
      const part = files.length + 1;
      const file = `${name}${part === 1 ? '' : `-part-${part}`}.html`;
      const first = await rows.nextPosition();
      const sink = open(`${task.folder}/${file}`);
      const pieces = onePage(report, task, {
        part,
        above: files.at(-1) ?? null,
        rows: rows.upTo((first ?? 0) + eventsPerFile),
        onLeftOut,
      });
      for await (const piece of pieces) await sink.write(piece);
      files.push(file);
      if ((await rows.nextPosition()) !== null)
        await sink.write(`<nav><a href="${name}-part-${part + 1}.html">Later events →</a></nav>\n`);
      await sink.write(pageEnd(pageScript));
      await sink.end();
    } while ((await rows.nextPosition()) !== null);
  } finally {
    await rows.close();
  }
  return files;
}

interface PagePart {
  /** From 1. */
  readonly part: number;
  /** The file of the part before it. */
  readonly above: string | null;
  readonly rows: AsyncIterable<ReportRow>;
  readonly onLeftOut: ReportOptions['onLeftOut'];
}

/** A file of a dispatch up to its last link. */
async function* onePage(
  report: DispatchReport,
  task: WrittenTask,
  { part, above, rows, onLeftOut }: PagePart,
): AsyncGenerator<string> {
  const envelope = envelopeOf(report);
  const title = `${envelope.title ?? envelope.role} · ${task.title}${part === 1 ? '' : ` · part ${part}`}`;
  const links = `<nav><a href="../index.html">All sessions</a>${relatives(envelope, task)}</nav>`;
  yield await pageStart({ title, links, bar: pageBar, script: pageScript });
  if (above !== null) yield `<nav><a href="${above}">← Earlier events</a></nav>\n`;
  yield* sectionStart(report);
  yield* rowList(new PageRows(onLeftOut).items(rows, 'd1', envelope.role));
  yield* sectionEnd(report, 'd1');
}

function relatives({ dispatchId, parentDispatchId }: DispatchEnvelope, task: WrittenTask): string {
  const link = ({ dispatchId: id, role, title }: DispatchEnvelope, word: string) =>
    ` · ${word} <a href="${task.names.get(id)}.html"><bdi>${escapeHtmlInLine(title ?? role)}</bdi></a>`;
  const { envelopes } = task.source;
  const parent = envelopes.find(({ dispatchId: id }) => id === parentDispatchId);
  const workers = envelopes.filter(({ parentDispatchId: id }) => id === dispatchId);
  return [
    ...(parent === undefined ? [] : [link(parent, 'from')]),
    ...workers.map((one) => link(one, 'to')),
  ].join('');
}

/** Names of files and folders for foreign names: of letters, digits, `.`, `_` and `-`, and different on every file system. */
export class PageNames {
  readonly #used = new Set<string>();

  nameFor(text: string): string {
    const plain = text.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, longest);
    const own = /^-*$/.test(plain) ? 'unnamed' : plain;
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? own : `${own}.${number}`;
      const key = name.toLowerCase();
      if (this.#used.has(key) || reserved.test(key)) continue;
      this.#used.add(key);
      return name;
    }
  }
}

/** Rows in order, taken in runs. */
class RowRun {
  readonly #rows: AsyncIterator<ReportRow>;
  #next: IteratorResult<ReportRow> | null = null;

  constructor(rows: AsyncIterable<ReportRow>) {
    this.#rows = rows[Symbol.asyncIterator]();
  }

  /** The position of the next row; null after the last one. */
  async nextPosition(): Promise<number | null> {
    this.#next ??= await this.#rows.next();
    return this.#next.done === true ? null : this.#next.value.row.position;
  }

  /** The next rows whose position is less. */
  async *upTo(position: number): AsyncGenerator<ReportRow> {
    for (;;) {
      this.#next ??= await this.#rows.next();
      if (this.#next.done === true || this.#next.value.row.position >= position) return;
      const row = this.#next.value;
      this.#next = null;
      yield row;
    }
  }

  async close(): Promise<void> {
    await this.#rows.return?.();
  }
}

/**
 * A task as one HTML file, in pieces: the tree with costs, then each dispatch with its facts, result, rows, dialog and
 * the view of each agent. Text of agents is never markup, except for Markdown from an allow-list. The page loads nothing, and its content
 * security policy allows one script, by its hash. Without it the first 2,000 rows are shown; it unfolds the others, which are compressed.
 */
export async function* writeTaskPage(
  source: TaskSource,
  options: ReportOptions = {},
): AsyncGenerator<string> {
  yield await pageStart({ title: taskTitle(source), bar: pageBar, script: pageScript });
  yield pageTree(source, ({ dispatchId }) => [`#${anchorOf(dispatchId)}`]);
  const rows = new PageRows(options.onLeftOut);
  let dispatches = 0;
  for await (const report of readDispatchReports(source, options)) {
    dispatches += 1;
    yield* sectionStart(report);
    yield* rowList(rows.items(settlingRows(report), `d${dispatches}`, envelopeOf(report).role));
    yield* sectionEnd(report, `d${dispatches}`);
  }
  yield pageEnd(pageScript);
}

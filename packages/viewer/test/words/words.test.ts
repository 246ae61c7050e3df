import { type DispatchEnvelope, envelopeSchemaVersion } from '@hansard/events';
import { writeTaskMarkdown, writeTaskPage } from '@hansard/pages';
import {
  createLogIndex,
  dialogOf,
  dialogWords,
  type Row,
  type RowWords,
  renderDialog,
  renderLine,
  renderRow,
  rowKinds,
  rowsOf,
  rowWords,
  type WordBlock,
  wordsLine,
} from '@hansard/views';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { RowDetail } from '../../src/page/event-panel.tsx';
import { TalkList } from '../../src/page/lenses/lens-screen.tsx';
import { RowCells } from '../../src/page/reader-screen.tsx';
import { readerRow } from '../../src/server/sent-rows.ts';
import { sampleLog, sampleTalk } from './sample-rows.ts';

const role = 'worker';
const rows = [sampleLog, sampleTalk].flatMap((log) => rowsOf(log));

/** What a surface shows of each row, without its markup, its times and its addresses. */
interface Surface {
  readonly name: string;
  readonly isLine: boolean;
  readonly shown: readonly string[];
}

const time = /\d\d:\d\d:\d\d(?:\.\d{3})?/g;
const source = {
  taskDir: 'lab/tasks/t',
  task: null,
  envelopes: ['log', 'talk'].map(envelopeOf),
  async *readEvents(dispatchId: string) {
    yield* dispatchId === 'log' ? sampleLog : sampleTalk;
  },
};

function envelopeOf(dispatchId: string): DispatchEnvelope {
  const nothing = { title: null, model: null, cwd: null, botId: null, parentDispatchId: null, ended: null };
  const figures = { cost: null, usage: null, models: null, periods: null, prices: null, openCalls: null };
  return {
    ...{ dispatchId, taskSlug: 't', role, startedAt: '2026-03-01T09:30:00.000Z', completedAt: null },
    ...{ ...nothing, ...figures, status: 'completed', folded: null, source: null, structuredResult: null },
    fidelity: 'full',
    schemaVersion: envelopeSchemaVersion,
  };
}

async function surfaces(): Promise<Surface[]> {
  const markdown: string[] = [];
  for await (const piece of writeTaskMarkdown(source))
    if (/^\*\*\d\d:\d\d:\d\d\*\* /.test(piece)) markdown.push(piece);
  let html = '';
  for await (const piece of writeTaskPage(source)) html += piece;
  const items = html
    .split(/(?=<li class="row )/)
    .slice(1)
    .map((item) => item.split('</span></li>')[0] ?? '');
  return [
    {
      name: 'terminal',
      isLine: false,
      shown: rows.map((row) => withoutPlaces(renderRow(row, { full: true, self: role }))),
    },
    { name: 'Markdown', isLine: false, shown: markdown.map(withoutMarkdown) },
    { name: 'HTML', isLine: false, shown: items.map(withoutTags) },
    { name: 'page', isLine: false, shown: rows.map((row) => withoutTags(renderToString(detail(row)))) },
    {
      name: 'one line',
      isLine: true,
      shown: rows.map((row) => renderLine(rowWords(row, { self: role })).replace(time, '')),
    },
    {
      name: 'row of the page',
      isLine: true,
      shown: rows.map((row) => withoutTags(renderToString(cells(row)))),
    },
  ];
}

const detail = (row: Row) =>
  h(RowDetail, { name: { task: 't', id: 'd' }, words: rowWords(row, { self: role }), onShow() {} });
const cells = (row: Row) =>
  h(RowCells, {
    row: { ...readerRow(row), ...wordsLine(rowWords(row, { self: role })) },
    agent: row.agent.name || row.agent.agentId || role,
  });

function withoutPlaces(text: string): string {
  return text
    .replace(/^ *\d+ {2}/, '')
    .replaceAll(/^ +\d+ {2}/gm, '')
    .replaceAll(time, '');
}

function withoutMarkdown(text: string): string {
  return text
    .replaceAll(/^`{3,}\w*$/gm, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')
    .replaceAll('\\', '')
    .replaceAll(time, '');
}

/** Removed words stand beside a received text, in colour. */
function withoutTags(html: string): string {
  return html
    .replaceAll(/class="(?:body )?altered"[\s\S]*?<\/(?:div|pre)>/g, (altered) =>
      altered.replaceAll(/<del>.*?<\/del>/g, ''),
    )
    .replaceAll(/<button[^>]*>\d+<\/button>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, ' ')
    .replaceAll(time, '');
}

/** All words of a row; those that one line has room for. */
function plainWords({ spans, blocks }: RowWords, isLine: boolean): string {
  const shown = spans.filter(({ label }) => !isLine || label !== 'figure').map(({ text }) => text);
  return [...shown, ...blocks.flatMap((block) => (isLine ? wordsInLine(block) : wordsOfBlock(block)))].join(
    '\n',
  );
}

function wordsOfBlock(block: WordBlock): string[] {
  const label = block.label ?? '';
  switch (block.kind) {
    case 'diff':
      return [label, ...block.lines.map(({ text }) => text)];
    case 'table':
      return [label, ...block.rows.flat()];
    case 'note':
      return block.spans.map(({ text }) => text);
    case 'records':
      return [block.summary, ...block.records.map(({ text }) => text)];
    default:
      return [label, block.text];
  }
}

function wordsInLine(block: WordBlock): string[] {
  if (block.kind === 'changed') return [];
  if (block.kind === 'records') return [block.summary];
  const label = block.source === 'hook' ? (block.label ?? '') : '';
  if (block.kind === 'code' || block.kind === 'diff')
    return [label, block.inLine ?? wordsOfBlock(block).slice(1).join(' ')];
  return block.kind === 'note' ? wordsOfBlock(block) : [label, ...wordsOfBlock(block).slice(1)];
}

function sorted(text: string): string {
  return (text.match(/[\p{L}\p{N}$.]*[\p{L}\p{N}]/gu) ?? []).sort().join(' ');
}

/** Where a surface does not show the words of a row. */
function differences({ name, isLine, shown }: Surface): string[] {
  if (shown.length !== rows.length) return [`${name}: ${shown.length} rows instead of ${rows.length}`];
  return rows.flatMap((row, at) => {
    const [is, should] = [sorted(shown[at] ?? ''), sorted(plainWords(rowWords(row, { self: role }), isLine))];
    return is === should ? [] : [`${name}, row ${row.position}: ${is} instead of ${should}`];
  });
}

describe('the words of a row', () => {
  it('say what a row stands for, and on which branch it is', async () => {
    const [first] = rows;
    if (first === undefined) throw new Error('There is no row.');
    const branch = {
      of: 'branch',
      agentId: '',
      state: 'abandoned',
      prompts: 3,
      events: 41,
      end: 57,
    } as const;
    const folded: Row = { ...first, kind: 'branch', content: [], fold: { ...branch, address: 'e57' } };
    const summary = '3 prompts, 41 events, abandoned by a rewind; it ends with 57';
    const marked: Row = { ...first, branch: 'parallel', isRetracted: true };
    const drawn = (row: Row) => [
      renderRow(row),
      renderLine(rowWords(row)),
      withoutTags(renderToString(detail(row))),
      withoutTags(renderToString(cells(row))),
    ];
    for (const text of drawn(folded)) expect(text).toContain(summary);
    for (const text of drawn(marked)) expect(text).toMatch(/parallel branch +retracted/);
  });

  it('are of every kind in the samples', () => {
    // The rows of a fold stand for other rows.
    const made = rowKinds.filter((kind) => kind !== 'branch' && kind !== 'copies');
    expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(made));
    const blocks = rows.flatMap((row) => rowWords(row).blocks);
    expect([...new Set(blocks.map(({ kind }) => kind))].sort()).toEqual([
      'changed',
      'code',
      'diff',
      'media',
      'note',
      'records',
      'table',
      'text',
    ]);
    expect([...new Set(blocks.map(({ source: from }) => from))].sort()).toEqual([
      'content',
      'hearing',
      'hook',
      'outcome',
      'records',
    ]);
  });

  it('are the same on the terminal, on one line, in Markdown, in HTML and on the page', async () => {
    for (const surface of await surfaces()) expect(differences(surface)).toEqual([]);
  });

  it('are not the same where a surface words something by itself', async () => {
    const mutants: readonly (readonly [string, (text: string) => string])[] = [
      ['who did not hear it', (text) => text.replace('not heard by', 'could have and did not')],
      ['what a hook did', (text) => text.replace('altered the', 'alter')],
      ['records', (text) => text.replace('harness record', 'record of the harness')],
    ];
    for (const surface of await surfaces())
      for (const [what, change] of mutants) {
        const changed = { ...surface, shown: surface.shown.map(change) };
        expect([surface.name, what, differences(changed).length > 0]).toEqual([surface.name, what, true]);
      }
  });
});

describe('the words of a dialog', () => {
  it('are the same on the terminal, in Markdown, in HTML and on the page', async () => {
    const index = createLogIndex(sampleTalk);
    const said = dialogOf(index);
    const words = said.map((row) => dialogWords(index, row));
    const should = sorted(
      words
        .flatMap(({ spans, blocks }) => [...spans.map(({ text }) => text), ...blocks.flatMap(wordsOfBlock)])
        .join('\n'),
    );
    const lines = words.map((line) => ({ ...line, time: null }));
    const page = renderToString(h(TalkList, { lines, toEvent: (position) => `#${position}` }));
    const { markdown, html } = await dialogOfReports();
    const shown = [
      renderDialog(index, said).replaceAll(/^ +\d+ {2}/gm, ''),
      withoutMarkdown(markdown),
      withoutTags(html),
      withoutTags(page.replaceAll(/<small>.*?<\/small>/g, '')),
    ];
    expect(shown.map(sorted)).toEqual(shown.map(() => should));
    expect(should).toContain('heard');
    expect(sorted(page.replace('not heard by', 'missed by'))).not.toBe(should);
  });
});

/** What was said in the talk, as the reports show it. */
async function dialogOfReports() {
  let [markdown, html] = ['', ''];
  for await (const piece of writeTaskMarkdown(source)) markdown += piece;
  for await (const piece of writeTaskPage(source)) html += piece;
  const [, said = ''] = markdown.split(/### Who said what\n/).slice(-2);
  const [, list = ''] = html.split('<summary>Who said what</summary>').slice(-2);
  return { markdown: said.split('### ')[0] ?? '', html: list.split('</details>')[0] ?? '' };
}

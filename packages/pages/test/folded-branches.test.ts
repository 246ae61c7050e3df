import { join } from 'node:path';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { type BranchedLog, branchedLog } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import * as pages from '../src/index.ts';
import { envelope, sourceOf, wholeOf } from './hostile-task.ts';

type Writers = Pick<typeof pages, 'writeTaskMarkdown' | 'writeTaskPage'>;

const seeds = Array.from({ length: 30 }, (_, at) => at + 1);

/** The texts of a log, each of which no other event has, and whether its event is off the current branch of its agent. */
function textsOf(
  log: BranchedLog,
): { readonly text: string; readonly isLeft: boolean; readonly id: string }[] {
  const current = new Map(
    log.agents.map(({ agentId, prompt, paths }) => [
      agentId,
      new Set(paths.find(({ state }) => state === 'current')?.ids ?? prompt.ids),
    ]),
  );
  return log.events.flatMap(({ id, type, data }) => {
    if (type !== 'user:message' && type !== 'agent:text') return [];
    const { ids = [], agentId = '' } = log.placed.get(id) ?? {};
    const last = ids.at(-1) ?? '';
    const isLeft = log.placed.get(last)?.agentId === agentId && current.get(agentId)?.has(last) === false;
    return [{ text: String(data.text), isLeft, id }];
  });
}

/** The events with a text of its own each, so that it is found in a report. */
function withOwnTexts(log: BranchedLog): BranchedLog {
  const events = log.events.map(
    (event, at): CapturedEvent =>
      typeof event.data.text === 'string'
        ? { ...event, data: { ...event.data, text: `canary${at}x` } }
        : event,
  );
  return { ...log, events };
}

const plain: DispatchEnvelope = { ...envelope, role: 'worker', model: 'm', cwd: '/w', botId: 'b' };

/** The part of a report with the rows: dialogs and views of agents have what others received. */
function rowsIn(report: string, start: string, end: string): string {
  const from = report.indexOf(start);
  const to = report.indexOf(end, from + start.length);
  return report.slice(from, to < 0 ? undefined : to);
}

/** What is wrong in the reports of a log. `wholeUpTo`: whether it is read as a long one. */
async function wrongIn(seed: number, writers: Writers, wholeUpTo: number): Promise<string[]> {
  const log = withOwnTexts(branchedLog({ seed, length: 40 }));
  const source = sourceOf([{ ...plain, branched: true, folded: { through: 0 } as never }], log.events);
  const markdown = await wholeOf(writers.writeTaskMarkdown(source, { wholeUpTo }));
  const rows = rowsIn(markdown, '### What happened', '\n### ');
  const html = await wholeOf(writers.writeTaskPage(source, { wholeUpTo }));
  const list = rowsIn(html, '<ol class="rows happened">', '</ol></details>\n<details class="lens">');
  const folded = list
    .split('<li class="fold">')
    .slice(1)
    .map((piece) => piece.slice(0, piece.indexOf('</ol></details></li>')));
  const wrong: string[] = [];
  const texts = textsOf(log);
  const isIn = (whole: string, text: string) => whole.includes(text);
  for (const { text, isLeft, id } of texts) {
    if (isIn(rows, text) === isLeft)
      wrong.push(`seed ${seed}: ${id} is ${isLeft ? '' : 'not '}in the Markdown`);
    if (folded.some((piece) => isIn(piece, text)) !== isLeft)
      wrong.push(`seed ${seed}: ${id} is ${isLeft ? 'not ' : ''}folded on the page`);
    if (!isIn(html, text)) wrong.push(`seed ${seed}: ${id} is not on the page`);
  }
  const lines =
    rows.match(
      /\d+ prompts?, \d+ events?, (?:abandoned by a rewind|a parallel branch \(a second program\))/g,
    ) ?? [];
  const summaries = new Set(
    list.match(
      /\d+ prompts?, \d+ events?, (?:abandoned by a rewind|a parallel branch \(a second program\)); it ends with \d+/g,
    ),
  );
  if (lines.length !== summaries.size)
    wrong.push(`seed ${seed}: ${lines.length} folds in the Markdown, ${summaries.size} on the page`);
  if (lines.length === 0 && texts.some(({ isLeft }) => isLeft)) wrong.push(`seed ${seed}: no fold is named`);
  return wrong;
}

it(`reports fold what a rewind left, and name it as \`show\` does (seeds 1 to ${seeds.length})`, async () => {
  for (const seed of seeds) expect(await wrongIn(seed, pages, seed % 2 === 0 ? 10_000 : 10)).toEqual([]);
});

const mutants: readonly (readonly [name: string, file: string, piece: string, instead: string])[] = [
  [
    'folds nothing of a short dispatch',
    'dispatch-report.ts',
    'index: createLogIndex(first), folds }',
    'index: createLogIndex(first), folds: null }',
  ],
  [
    'folds nothing of a long dispatch',
    'dispatch-report.ts',
    'const folds = await foldsOfLong(source, envelope);',
    'const folds = null;',
  ],
  [
    'takes every counted log for one without branches',
    'dispatch-report.ts',
    'envelope.branched !== true',
    'true',
  ],
  [
    'shows each folded row as its fold',
    'task-markdown.ts',
    'fold === null || fold.position === row.position',
    'true',
  ],
  [
    'leaves the row of a fold out',
    'task-markdown.ts',
    'fold === null || fold.position === row.position',
    'fold === null',
  ],
  ['shows folded rows in the Markdown', 'task-markdown.ts', 'rowMarkdown(fold ?? row', 'rowMarkdown(row'],
  [
    'folds nothing on a page',
    'page/page-rows.ts',
    'if (fold === null) return',
    'if (fold !== undefined) return',
  ],
  [
    'loses the rows of a fold on a page',
    'page/page-rows.ts',
    '{items}</ol></details></li>',
    "{''}</ol></details></li>",
  ],
  [
    'folds the rows after a branch, too',
    'page/page-rows.ts',
    'last.fold === fold',
    '(last.fold === fold || last.fold !== null)',
  ],
];

describe('a broken fold of a report is caught', () => {
  it.each(mutants)('%s', async (_, file, piece, instead) => {
    const broken = (await importMutated(
      join(import.meta.dirname, '..'),
      [file, piece, instead],
      'index.ts',
    )) as Writers;
    const wrong: string[] = [];
    for (const seed of seeds) {
      wrong.push(...(await wrongIn(seed, broken, seed % 2 === 0 ? 10_000 : 10)));
      if (wrong.length > 0) return;
    }
    expect(wrong).not.toEqual([]);
  });
});

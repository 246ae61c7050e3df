import { join } from 'node:path';
import type { JsonObject } from '@hansard/events';
import { importMutated } from '@hansard/testing/mutants';
import { rowsOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { openClaudeTranscript } from '../../src/index.ts';
import { answer, call, lines, outcome, prompt, readTranscript, record, text, uuid } from './transcripts.ts';

const home = join(import.meta.dirname, '../..');

const worked: readonly JsonObject[] = [
  prompt(1, 'Fix it.', { gitBranch: 'main' }),
  answer(2, call('toolu_1', 'Bash', { command: 'git commit' }), {}, { gitBranch: 'main' }),
  outcome(3, 'toolu_1', '[fix 44d2256] Fix', {
    gitBranch: 'fix',
    toolUseResult: {
      gitOperation: { commit: { sha: '44d2256', kind: 'committed' }, push: { branch: 'fix' } },
    },
  }),
  record(4, { type: 'system', subtype: 'informational', content: 'x', gitBranch: 'other', cwd: '/other' }),
  answer(5, call('toolu_2', 'Edit', { file_path: 'a.ts' }), {}, { cwd: '/house/tree', gitBranch: 'fix' }),
  outcome(6, 'toolu_2', 'Edited.', { cwd: '/house/tree', toolUseResult: { userModified: true } }),
  answer(7, text('Side.'), {}, { isSidechain: true, agentId: 'a1', cwd: '/aside', parentUuid: null }),
  {
    type: 'pr-link',
    prNumber: 44,
    prUrl: 'https://example.org/44',
    prRepository: 'ada/shop',
    timestamp: '2026-03-01T09:30:08.000Z',
  },
  answer(9, text('Done.'), {}, { cwd: '/house/tree' }),
];

/** What the rows say of the work. */
async function shownOf(open = openClaudeTranscript): Promise<string[]> {
  const { events } = await readTranscript(lines(...worked), { open });
  return rowsOf(events).flatMap(({ word, content, call: made }) => {
    const parts =
      word === 'call'
        ? (made?.outcome?.slice(1) ?? [])
        : word === 'moved' || word === 'linked'
          ? content
          : [];
    return parts.map((part) => `${word}: ${part.kind === 'text' ? part.text : part.kind}`);
  });
}

const right = [
  'call: commit 44d2256 committed',
  'call: push to fix',
  'moved: branch main → fix',
  'call: A person changed this edit before it was made.',
  'moved: folder /house → /house/tree',
  'linked: pull request 44 of ada/shop https://example.org/44',
];

const mapping = 'map/transcript-mapping.ts';
const mutants: readonly (readonly [
  name: string,
  fault: readonly [file: string, piece: string, instead: string],
])[] = [
  [
    'takes the folder of a sub-agent for that of the session',
    [mapping, ' || isSidechain === true) return;', ') return;'],
  ],
  [
    'takes the folder of a record of the engine',
    [mapping, "(type !== 'user' && type !== 'assistant')", 'type === undefined'],
  ],
  ['forgets where the session worked', [mapping, '    this.#place = named;', '']],
  ['takes a branch that is not named for a change', [mapping, '?? before.branch ?? null', '?? null']],
  ['drops what a tool did with git', ['map/blocks.ts', '{ gitOperation: gitOperation as JsonObject }', '{}']],
  [
    'drops that a person changed an edit',
    ['map/blocks.ts', 'userModified === true ?', 'userModified === 1 ?'],
  ],
];

describe('facts of the work', () => {
  it('are rows: folders and branches, commits, pull requests, and edits that a person changed', async () => {
    expect((await shownOf()).sort()).toEqual([...right].sort());
  });

  it('are those of a single reading, wherever the session ended before', async () => {
    const whole = await readTranscript(lines(...worked));
    for (let rows = 1; rows < worked.length; rows += 1) {
      const part = await readTranscript(lines(...worked.slice(0, rows)));
      const known = new Map(whole.events.map((event) => [event.id, event]));
      for (const event of part.events) expect(known.get(event.id)).toEqual(event);
    }
    expect(whole.events.filter(({ data }) => data.kind === 'moved').map(({ id }) => id)).toEqual([
      `${uuid(3)}:moved`,
      `${uuid(5)}:moved`,
    ]);
  });

  it.each(mutants)('would differ if a reader %s', async (_, fault) => {
    const made = await importMutated(home, fault, 'index.ts');
    const { openClaudeTranscript: open } = made as { openClaudeTranscript: typeof openClaudeTranscript };
    expect((await shownOf(open)).sort()).not.toEqual([...right].sort());
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../workspace.ts';

interface Clause {
  readonly clause: string;
  readonly state: string;
  readonly where: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

/** The rows of the page. */
function clausesOf(text: string): Clause[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| clause '))
    .map((line) => {
      const [clause = '', state = '', where = '', tests = ''] = line.slice(2, -2).split(' | ');
      return { clause, state, where, tests: testsOf(tests) };
    });
}

function testsOf(cell: string): Clause['tests'] {
  const parts = [...cell.matchAll(/`([^`]+\.test\.ts)` › (.+?)(?=; `|\s*$)/g)];
  return parts.map(([, file = '', title = '']) => ({ file, title }));
}

/** What is wrong with a row, in words. */
function faultsOf({ clause, state, where, tests }: Clause): string[] {
  const faults: string[] = [];
  if (!['works', 'departs', 'open'].includes(state)) faults.push(`${clause}: the state is ${state}`);
  if (state !== 'open' && tests.length === 0) faults.push(`${clause}: no test`);
  if (state === 'open' && tests.length > 0) faults.push(`${clause}: open, with tests`);
  if (state === 'departs' && !where.includes('decisions/'))
    faults.push(`${clause}: no record of the decision`);
  for (const { file, title } of tests) {
    const path = join(root, file);
    if (!existsSync(path)) faults.push(`${clause}: ${file} does not exist`);
    else if (!isTitle(readFileSync(path, 'utf8'), title))
      faults.push(`${clause}: no test ${title} in ${file}`);
  }
  return faults;
}

/** Whether a test that is not skipped has this title. */
function isTitle(source: string, title: string): boolean {
  const at = source.indexOf(`'${title}'`);
  return at >= 0 && !/\.(skip|todo)\($/.test(source.slice(0, at).trimEnd());
}

const text = readFileSync(join(root, 'docs/specifications.md'), 'utf8');
const clauses = clausesOf(text);

describe('docs/specifications.md', () => {
  it('names tests that exist, and the record of each departure', () => {
    expect(clauses.flatMap(faultsOf)).toEqual([]);
    expect(clauses.length).toBeGreaterThan(85);
  });

  it('counts its rows', () => {
    const count = (state: string) => clauses.filter((one) => one.state === state).length;
    const figures = `${clauses.length} clauses, of which ${count('works')} work, ${count('departs')} depart and ${count('open')} are open.`;
    expect(text).toContain(`\n${figures}\n`);
  });

  it.each([
    ['a test that does not exist', '| a | works | b | `scripts/test/specifications.test.ts` › is nowhere |'],
    ['a file that does not exist', '| a | works | b | `scripts/test/nothing.test.ts` › counts its rows |'],
    ['a row without a test', '| a | works | b |  |'],
    [
      'a departure without a record',
      '| a | departs | b | `scripts/test/specifications.test.ts` › counts its rows |',
    ],
    ['another state', '| a | nearly | b | `scripts/test/specifications.test.ts` › counts its rows |'],
  ])('would be found wrong with %s', (_, row) => {
    expect(clausesOf(row).flatMap(faultsOf)).toHaveLength(1);
  });
});

describe('docs/peers.md', () => {
  const [ours = '', others = ''] = readFileSync(join(root, 'docs/peers.md'), 'utf8').split('## Others');
  const rows = clausesOf(ours);

  it('names tests that exist in each row of Hansard, or says that it is open', () => {
    expect(rows.flatMap(faultsOf)).toEqual([]);
    expect(rows).toHaveLength(15);
  });

  it('has a source or the lack of one in each cell of others, and the same rows', () => {
    const table = others.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what '));
    const cells = table.map((line) => line.slice(2, -2).split(' | '));
    expect(cells.map(([what]) => what)).toEqual(rows.map(({ clause }) => clause));
    for (const [what, ...of] of cells)
      expect([
        what,
        of.filter((cell) => !/^not verified$|\]\(https:\/\/[^)]+\)/.test(cell)),
        of.length,
      ]).toEqual([what, [], 4]);
  });
});

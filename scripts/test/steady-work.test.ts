import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../workspace.ts';

/**
 * The most work of one steady append, row and listed dispatch. Appends once became half as slow again, a little with each change, and no
 * test noticed. These counts do not depend on time or load. A commit that lowers a count
 * lowers its ceiling. A commit may raise a ceiling only if its message says what the user gets for the work.
 */
const ceilings = {
  provider: { files: 9, functions: 17, calls: 21, promises: 0, fileOperations: 1 },
  facade: { files: 20, functions: 43, calls: 48, promises: 2, fileOperations: 1 },
  session: { files: 39, functions: 95, calls: 124, promises: 4, fileOperations: 1 },
  redacted: { files: 30, functions: 74, calls: 102, promises: 2, fileOperations: 1 },
  row: { files: 12, functions: 44, calls: 62, promises: 0, fileOperations: 0 },
  listed: { files: 15, functions: 55, calls: 34, promises: 0, fileOperations: 1 },
};

type Count = keyof (typeof ceilings)['provider'];

describe('the steady work of', () => {
  let found: typeof ceilings;

  beforeAll(() => {
    const printed = execFileSync(
      process.execPath,
      ['--conditions=@hansard/source', 'benchmarks/steady-work.ts'],
      { cwd: root, encoding: 'utf8' },
    );
    found = JSON.parse(printed);
  });

  it.each(Object.keys(ceilings) as (keyof typeof ceilings)[])('%s is at most its ceilings', (name) => {
    const tooMuch = (Object.keys(ceilings[name]) as Count[])
      .filter((count) => !(found[name][count] <= ceilings[name][count]))
      .map((count) => `${count}: ${found[name][count]}, at most ${ceilings[name][count]}`);
    expect(tooMuch).toEqual([]);
  });

  it('an append includes a write of the file', () => {
    expect(
      [found.provider, found.facade, found.session, found.redacted].map((work) => work.fileOperations),
    ).toEqual([1, 1, 1, 1]);
  });
});

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { casesFor } from '../src/run/run-case.ts';
import { modelCapabilities, openModel } from './open-model.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...args: readonly string[]): Promise<Outcome> {
  const program = join(import.meta.dirname, '../src/bin.ts');
  const all = ['--conditions=@hansard/source', program, ...args];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      all,
      { cwd: join(import.meta.dirname, 'stores'), timeout: 50_000 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

describe('hansard-store-conformance', () => {
  it('runs every case that applies, and prints the number of those that passed', async () => {
    const { length } = casesFor({ capabilities: modelCapabilities, create: openModel });
    const { code, stdout } = await run('./good-store.ts');
    expect([code, stdout.split('\n').at(-2)]).toEqual([
      0,
      expect.stringMatching(/^\d+ passed, 0 failed, \d+ skipped, 0 known gaps$/),
    ]);
    const counted = stdout.match(/\d+/g)?.slice(-4).map(Number) ?? [];
    expect(counted.reduce((sum, number) => sum + number, 0)).toBe(length);
    expect(stdout).toMatch(/^skipped killed\/while-appending: the fixture has no `elsewhere`/m);
    expect(stdout).toMatch(
      /^NOT CERTIFIED {2}durability: 'process' \(the end of a process\): the fixture has no `elsewhere`/m,
    );
  });

  it('prints failures and known gaps, and exits with 1', async () => {
    const { code, stdout } = await run('half-finished-store.ts', '--case', 'pages/walk', '--case', 'tasks');
    expect(code).toBe(1);
    expect(stdout).toContain('gap     pages/walk: pages are not written yet');
    expect(stdout).toContain('gap     tasks/replaced: tasks are not listed yet');
    expect(stdout).toMatch(
      /FAILED {2}tasks\/with-and-without-record: every task .*\n {8}AssertionError.*listTasks has 0 items, expected 6/,
    );
    expect(stdout).not.toContain('tasks/keeps-a-copy');
  });

  it('reports the other cases after one that hangs, ends the process or leaves a rejection, and a process that does not end', async () => {
    const cases = ['tasks', 'reads', 'idempotence/conflict'].map((name) => `--case=${name}`);
    const { code, stdout } = await run('process-breaking-store.ts', ...cases, '--timeout=1');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /FAILED {2}tasks\/replaced: .*\n {8}The process ended during the case \(exit code 7\)/,
    );
    expect(stdout).toMatch(
      /FAILED {2}idempotence\/conflict: .*\n {8}The process ended during the case \(exit code 1\).*left behind/s,
    );
    expect(stdout).toMatch(/FAILED {2}reads\/recent-none: .*\n {8}.*The case did not end within 1000 ms/);
    expect(stdout).toMatch(/FAILED {2}process\/ends: .*\n {8}Something of the store/);
    expect(stdout).toMatch(/^\d{2} passed, 5 failed/m);
  });

  it('prints one JSON object with --json', async () => {
    const { code, stdout } = await run(
      'half-finished-store.ts',
      '--json',
      '--case=pages/walk',
      '--case=tasks/keeps-a-copy',
      '--seed=3',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      counts: { passed: 1, failed: 0, skipped: 0, gap: 1 },
      cases: [
        {
          id: 'pages/walk',
          rule: 5,
          status: 'gap',
          reason: 'pages are not written yet',
          error: expect.stringContaining('Not written yet'),
        },
        { id: 'tasks/keeps-a-copy', status: 'passed', reason: null, error: null },
      ],
    });
  });

  it('prints help, the version and the list of cases', async () => {
    const [help, version, list] = await Promise.all([
      run('--help'),
      run('--version'),
      run('good-store.ts', '--list', '--case', 'paths'),
    ]);
    expect(help.stdout).toContain('Exit codes:');
    expect(version.stdout).toBe(`${manifest.version}\n`);
    expect(list.stdout).toMatch(/^paths\/put-task {2}putTask refuses/m);
  });

  it('exits with 2 for a command line or a module that cannot be run, with the reason', async () => {
    const wrong: ReadonlyArray<readonly [args: readonly string[], reason: RegExp]> = [
      [[], /Name one module/],
      [['good-store.ts', '--colour'], /--colour/],
      [['good-store.ts', '--case', 'pages/wolk'], /pages\/wolk/],
      [['good-store.ts', '--seed', 'x'], /--seed must be a whole number, not "x"/],
      [['no-store.ts'], /no-store.ts cannot be imported/],
      [['../open-model.ts'], /needs a default export with capabilities and create/],
    ];
    const outcomes = await Promise.all(wrong.map(([args]) => run(...args)));
    for (const [index, { code, stderr }] of outcomes.entries()) {
      expect([code, stderr]).toEqual([2, expect.stringMatching(wrong[index]?.[1] ?? /^$/)]);
      expect(stderr).toContain('--help');
    }
  });
});

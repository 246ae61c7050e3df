import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';

/** Transcripts that were made after public reports of faults of similar tools. */
const reports = join(import.meta.dirname, 'fixtures', 'field-reports');

/** What a command prints after the import of a report. */
async function answerOf(report: string, ...command: string[]): Promise<{ out: string; err: string }> {
  using shell = commandLine();
  const imported = await shell.hansard('import', join(reports, report, 'p'));
  expect([imported.code, imported.err]).toEqual([0, '']);
  const { code, out, err } = await shell.hansard(...command);
  expect(code).toBe(0);
  return { out, err };
}

describe('whose words', () => {
  it('a teammate says are the words of the teammate (c62)', async () => {
    const { out } = await answerOf('c62', 'dialog', 'latest');
    expect(out).toContain('5  alice: There are seven owls.\n');
    const users = out.match(/^ *\d+ {2}user: .*$/gm);
    expect(users?.map((line) => line.trim())).toEqual(['0  user: Start the team.', '14  user: What next?']);
  });
});

describe('the sub-agents of a session', () => {
  it('are linked to their calls by the files beside them, if the session was killed before their results (c50)', async () => {
    const { out, err } = await answerOf('c50', 'agents', 'latest');
    expect(out.split('\n').map((line) => line.trimEnd())).toEqual([
      'dispatched agent       –  2 messages',
      '├─ Explore        aa1  –  2 messages',
      '└─ Explore        bb2  –  2 messages',
      '   └─ Explore     cc3  –  2 messages',
      '',
    ]);
    expect(err).toBe('hansard: 3 agents are named Explore: aa1, bb2, cc3.\n');
    const whole = await answerOf('c50', 'agents', 'latest', '--json');
    expect(whole.out.match(/"tool_use_id":"\w+"/g)).toEqual([
      '"tool_use_id":"toolu_A"',
      '"tool_use_id":"toolu_B"',
      '"tool_use_id":"toolu_C"',
    ]);
  });

  it('of a workflow are below the agent that called it, and created before their first word (c10)', async () => {
    const { out, err } = await answerOf('c10', 'agents', 'latest');
    expect(out.split('\n').map((line) => line.trimEnd())).toEqual([
      'dispatched agent      –  4 messages',
      '└─ auditor        w1  –  2 messages',
      '',
    ]);
    expect(err).toBe('');
  });
});

describe('the title of a session', () => {
  it('is neither markup nor a slash command without arguments (c15)', async () => {
    const { out } = await answerOf('c15', 'ls');
    expect(out).toContain('The real question about owls');
    expect(out).toContain('Second name');
    expect(out).not.toMatch(/<|command|clear/);
  });
});

describe('a project that is a link to another place', () => {
  it('is named with the remedy, and imported if the user names it (c61)', async () => {
    using shell = commandLine();
    cpSync(join(reports, 'c61'), shell.cwd, { recursive: true });
    const target = join(shell.cwd, 'elsewhere', '-srv-moved');
    const link = join(shell.cwd, 'p', '-srv-moved');
    symlinkSync(target, link);
    const all = await shell.hansard('import', 'p');
    expect(all.code).toBe(1);
    expect(all.out.match(/claude-transcript/g)).toHaveLength(1);
    expect(all.err).toContain(`IMPORT_LINK_OUTSIDE: ${link} is a link to ${target}, outside of `);
    expect(all.err).toContain('import that place by its own path');
    const named = await shell.hansard('import', join('p', '-srv-moved'));
    expect([named.code, named.err]).toEqual([0, '']);
    expect(named.out).toContain('c6100000-1111-4111-8111-111111111111');
  });
});

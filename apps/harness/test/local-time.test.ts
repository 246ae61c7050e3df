import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { systemClock } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

let cli: CommandLine;
const started = Date.parse('2026-03-01T20:29:00.000Z');

/** A dispatch with an event at 20:30:00 and one at 20:31:00 UTC. */
beforeAll(async () => {
  cli = commandLine();
  let minute = 0;
  const clock = { ...systemClock, now: () => started + minute * 60_000 };
  const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }), { clock });
  await using dispatch = await store.beginDispatch('lab/tasks/clock', { role: 'dev', fidelity: 'full' });
  for (const text of ['half past', 'a minute later']) {
    minute += 1;
    await dispatch.append([newEvent('agent:text', { text })]);
  }
  await dispatch.end({ status: 'completed' });
  await store.close();
});

afterAll(() => cli?.[Symbol.dispose]());

/** The command on a machine of another zone. */
async function inZone(zone: string, ...args: string[]): Promise<string> {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    const { code, out, err } = await cli.hansard(...args);
    expect(code, err).toBe(0);
    return out;
  } finally {
    process.env.TZ = before;
  }
}

// Clocks of 5 hours and 45 minutes ahead of UTC, on the next day, and of 3 hours and 30 minutes behind.
describe.each([
  ['Asia/Kathmandu', '2026-03-02', '02:15:00', '+05:45'],
  ['America/St_Johns', '2026-03-01', '17:00:00', '-03:30'],
])('local times in %s', (zone, day, time, offset) => {
  it('prints days, times and offsets of the zone', async () => {
    expect(await inZone(zone, 'show', 'lab/clock', '--raw')).toMatch(
      new RegExp(`^ +0  ${time}  text +half past$`, 'm'),
    );
    const show = await inZone(zone, 'show', 'lab/clock');
    expect(show).toContain(`\n${day}\n   0  ${time}  text`);
    expect(show).toMatch(new RegExp(`^ *started +${day}T\\d\\d:\\d\\d:00\\.000\\${offset}$`, 'm'));
    expect(await inZone(zone, 'show', 'lab/clock', '--full')).toContain(`${day}\n   0  ${time}  text`);
    expect(await inZone(zone, 'ls')).toContain(day);
    expect(await inZone(zone, 'usage', '--by', 'day')).toContain(day);
  });

  it('reads times in filters and addresses in the zone', async () => {
    const minute = time.slice(0, 5);
    const filtered = await inZone(zone, 'show', 'lab/clock', '--raw', '--until', minute);
    expect(filtered.trimEnd().split('\n')).toEqual([expect.stringContaining('half past')]);
    const from = await inZone(zone, 'show', 'lab/clock', `@${minute}`, '--raw', '-n', '1');
    expect(from.trimEnd().split('\n')).toEqual([expect.stringContaining('half past')]);
  });
});

it('--since and --until take days before today, in every command that selects by time', async () => {
  const days = (...args: string[]) => inZone('Asia/Kathmandu', ...args, '--since', '3000d', '--until', '1w');
  for (const options of [[], ['--raw'], ['-n', '5'], ['--speed', 'max']]) {
    const words = ['show', 'lab/clock', ...options];
    expect(await days(...words)).toContain('half past');
    expect(await inZone('UTC', ...words, '--since', 'yesterday')).not.toContain('half past');
    expect(await inZone('UTC', ...words, '--until', 'yesterday', '--json')).toContain('half past');
  }
  expect(await days('search', 'half')).toContain('half past');
});

describe('with --utc', () => {
  it('times are UTC in any zone, and JSON is UTC without it too', async () => {
    expect(await inZone('Asia/Kathmandu', 'show', 'lab/clock', '--raw', '--utc')).toContain(
      '   0  20:30:00  text',
    );
    const json = await inZone('Asia/Kathmandu', 'show', 'lab/clock', '--raw', '--json');
    expect(JSON.parse(json.split('\n')[0] ?? '').timestamp).toBe('2026-03-01T20:30:00.000Z');
  });
});

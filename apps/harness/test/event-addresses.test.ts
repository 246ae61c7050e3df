import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CapturedEvent } from '@hansard/events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const fixture = fileURLToPath(new URL('fixtures/traders-v2.jsonl', import.meta.url));
const task = 'market/traders';

let line: CommandLine;
let events: readonly CapturedEvent[] = [];

beforeAll(async () => {
  line = commandLine();
  expect(await line.hansard('import', fixture, '--task', task)).toMatchObject({ code: 0 });
  events = (await line.hansard('show', `${task}/latest`, '--raw', '--json')).json() as CapturedEvent[];
});
afterAll(() => line[Symbol.dispose]());

const why = async (address: string) => {
  const answer = await line.hansard('why', task, address, '--json');
  expect(answer, address).toMatchObject({ code: 0 });
  return (answer.json().at(-1) as { id: string }).id;
};

const answerId = () => events.find(({ id }) => id.startsWith('m15'))?.id ?? '';
const positionOf = (id: string) => String(events.findIndex((event) => event.id === id));

const effects = new Map<string, Promise<readonly number[]>>();

/** The positions of the effects of an event. Listings have the same addresses, so each is asked once. */
function effectPositions(address: string): Promise<readonly number[]> {
  const asked = effects.get(address) ?? askEffects(address);
  effects.set(address, asked);
  return asked;
}

async function askEffects(address: string): Promise<readonly number[]> {
  const answer = await line.hansard('why', task, address, '--json', '--effects');
  return (answer.json() as { position: number }[]).map(({ position }) => position);
}

describe('every listing begins its lines with an address', () => {
  it.each([
    [['show', `${task}/latest`, '--raw']],
    [['show', task, '--raw']],
    [['show', task, '--raw']],
    [['show', task, '--speed', 'max']],
    [['show', `${task}/latest`, '--full']],
    [['dialog', task]],
    [['heard', task]],
    [['heard', task, '--agent', 'Bo']],
    [['perspective', task, '--agent', 'Bo']],
    [['why', task, 'm15']],
  ])('%j, which effects takes', async (args) => {
    const { out, code } = await line.hansard(...args);
    expect(code).toBe(0);
    const ids = new Set(events.flatMap(({ id, messageId = id }) => [id, messageId]));
    const addresses = out.split('\n').flatMap((one) => {
      const [, first = ''] = /^ *(\S+) {2}/.exec(one) ?? [];
      return ids.has(first) || /^\d+$/.test(first) ? [first] : [];
    });
    expect(addresses.length).toBeGreaterThan(2);
    for (const address of new Set(addresses)) {
      const positions = await effectPositions(address);
      expect(positions.length).toBeGreaterThan(0);
      if (/^\d+$/.test(address)) expect(positions).toContain(Number(address));
    }
  });
});

describe('an event', () => {
  it('is named by its position, its id, the end or the beginning of it', async () => {
    const id = answerId();
    expect(await why(positionOf(id))).toBe(id);
    expect(await why(id)).toBe(id);
    expect(await why('15')).toBe(events[15]?.id);
    expect(await why('latest')).toBe(events.at(-1)?.id);
  });

  it('is named by its time, and never if that is not recorded', async () => {
    const said = (minute: number) => `2026-03-01T09:0${minute}:00.000Z`;
    const lines = [1, 2, 4].flatMap((minute) => [
      { timestamp: said(minute), turn: 'Day 1', speaker: 'Ann', message: `At ${minute}.` },
      { turn: 'Day 1', speaker: 'Ann', message: `After ${minute}.` },
    ]);
    writeFileSync(join(line.cwd, 'chat.jsonl'), lines.map((one) => JSON.stringify(one)).join('\n'));
    expect(await line.hansard('import', 'chat.jsonl', '--task', 'games/chat')).toMatchObject({ code: 0 });
    const at = async (time: string) => {
      const answer = await line.hansard(
        'show',
        'games/chat',
        `@${time}`,
        '--raw',
        '--utc',
        '--lines',
        '1',
        '--json',
      );
      return (answer.json()[0] as CapturedEvent | undefined)?.data.text;
    };
    expect(await at('2026-03-01T09:01')).toBe('At 1.');
    expect(await at('09:03')).toBe('At 2.');
    expect(await at('09:04:30')).toBe('At 4.');
  });

  it.each([
    ['why', ['--effects']],
    ['heard', ['--diff']],
    ['heard', ['--never']],
    ['heard', ['--agent', 'Bo']],
  ])('has the same names in %s %j', async (command, options) => {
    const id = answerId();
    const byId = await line.hansard(command, task, id, ...options);
    expect(byId.code).toBe(0);
    expect((await line.hansard(command, task, positionOf(id), ...options)).out).toBe(byId.out);
  });

  it('that is not clear is asked for, with the choices', async () => {
    const { code, out, err } = await line.hansard('why', task, 'm1');
    expect([code, out]).toEqual([1, '']);
    const choices = err.split('\n').filter((one) => / {2}m1\S* {2}/.test(one));
    expect(err).toMatch(/^hansard: m1 fits (more than )?\d+ events:\n/);
    expect(choices.length).toBeGreaterThan(1);
    for (const choice of choices) {
      const [, position = ''] = /^ *(\d+) {2}/.exec(choice) ?? [];
      expect(events[Number(position)]?.timestamp).toBeNull();
      expect(choice).toContain('  time not recorded  ');
    }
  });

  it.each([
    ['99999', 1, /has no event 99999: the position of its last event is \d+/],
    ['@1999-01-01', 1, /has no event up to 1999-01-01; the time of its first event is not recorded/],
    [
      '@25:00',
      2,
      /"@25:00" does not name an event\.\n.*such as @2026-03-01T15:04.*start of this session is not recorded/,
    ],
    ['nothing', 1, /has no event or message nothing/],
  ])('%s is refused in words', async (address, code, message) => {
    const answer = await line.hansard('why', task, address);
    expect([answer.code, answer.out]).toEqual([code, '']);
    expect(answer.err).toMatch(message);
  });
});

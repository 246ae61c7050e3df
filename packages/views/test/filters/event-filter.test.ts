import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { EventFilter, filterRows, parseTextPattern, rowsOf, type TextPattern } from '../../src/index.ts';
import { RandomLog } from '../rows/random-log.ts';

const start = Date.parse('2026-03-01T09:30:00.000Z');

interface Wanted {
  readonly agentIds?: readonly string[];
  readonly types?: readonly string[];
  readonly tools?: readonly string[];
  readonly sources?: readonly ('user' | 'external')[];
  readonly failed?: boolean;
  readonly grep?: string;
  readonly since?: number;
  readonly until?: number;
}

type MakeFilter = (wanted: Wanted) => Promise<EventFilter>;

const makeFilter: MakeFilter = async ({ grep, ...criteria }) =>
  new EventFilter({ ...criteria, ...(grep !== undefined && { text: await patternOf(grep) }) });

async function patternOf(grep: string): Promise<TextPattern> {
  const parsed = await parseTextPattern(grep);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.pattern;
}

const types = [
  'agent:text',
  'agent:tool_call',
  'agent:tool_result',
  'agent:thinking',
  'system:notice',
] as const;
const failures = [
  'harness:error',
  'harness:stall',
  'harness:timeout',
  'harness:abort',
  'harness:loop_kill',
] as const;
const words = ['Route', 'route.', 'tea', 'ROUTES', 'x1', ''];

function randomEvents(random: () => number): CapturedEvent[] {
  const below = (end: number) => Math.floor(random() * end);
  const pick = <T>(from: readonly T[]) => from[below(from.length)] as T;
  const message = (): JsonObject => ({
    text: pick(words),
    source: pick<JsonValue>([{ kind: 'user' }, { kind: 'external', what: 'file' }, { kind: 'agent' }, null]),
  });
  const value = (depth: number): JsonValue => {
    const choice = below(depth > 2 ? 3 : 6);
    if (choice < 2) return `${pick(words)} ${pick(words)}`;
    if (choice === 2) return pick([1, true, null]);
    if (choice === 3) return [value(depth + 1), value(depth + 1)];
    if (choice === 4) return { route: value(depth + 1), other: value(depth + 1) };
    return { kind: 'image', mediaType: 'image/png', base64: pick(words), note: pick(words) };
  };
  return Array.from({ length: 12 }, (_, position): CapturedEvent => {
    const roll = below(9);
    const agentId = pick(['', 'ann', 'ben']);
    const tool = pick(['Bash', 'mcp__web__get', 'mcp__db', 'bash2']);
    const [type, data]: [CapturedEvent['type'], JsonObject] =
      roll === 0
        ? [pick(failures), { message: pick(words) }]
        : roll === 1
          ? [
              'harness:hook_decision',
              { hook: 'h', on: 'tool_call', decision: pick(['allow', 'deny', 'alter']) },
            ]
          : roll === 2
            ? ['session:complete', { status: pick(['completed', 'error']), result: pick(words) }]
            : roll === 8
              ? [pick(['user:message', 'system:notice']), message()]
              : [
                  pick(types),
                  { body: value(0), ...(roll > 4 && { tool, status: pick(['completed', 'error']) }) },
                ];
    const timestamp = below(5) === 0 ? null : new Date(start + below(20) * 500).toISOString();
    return { id: `event-${position}`, type, timestamp, ...(agentId !== '' && { agentId }), data };
  });
}

function randomWanted(random: () => number): Wanted {
  const below = (end: number) => Math.floor(random() * end);
  const pick = <T>(from: readonly T[]) => from[below(from.length)] as T;
  const maybe = <T>(value: () => T) => (below(3) === 0 ? value() : undefined);
  const wanted = {
    agentIds: maybe(() => pick([[''], ['ann'], ['ann', 'ben'], ['nobody']])),
    types: maybe(() =>
      pick([['agent:*'], ['agent:tool_*'], ['system:notice', 'agent:text'], ['*:error'], ['agent:tex']]),
    ),
    tools: maybe(() => pick([['bash'], ['BASH'], ['mcp__*'], ['mcp__*__get', 'bash2']])),
    sources: maybe(() => pick([['external'], ['user', 'external']] as const)),
    failed: maybe(() => true),
    grep: maybe(() =>
      pick(['route', 'TEA', 'x1 ', 'image/png', 'png', '/route\\./', '/^(tea|x1) /', '/ROUTE\\b/i']),
    ),
    since: maybe(() => start + below(20) * 500),
    until: maybe(() => start + below(20) * 500),
  };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
}

/** Whether an event is wanted, by the definition of each criterion. */
function isWanted({ type, agentId = '', timestamp, data }: CapturedEvent, wanted: Wanted): boolean {
  const like = (pattern: string, text: unknown) =>
    typeof text === 'string' &&
    new RegExp(
      `^${pattern
        .split('*')
        .map((part) => part.replace(/[^\w]/g, '\\$&'))
        .join('.*')}$`,
      'i',
    ).test(text);
  if (wanted.agentIds?.includes(agentId) === false) return false;
  if (wanted.types?.some((pattern) => like(pattern, type)) === false) return false;
  if (wanted.tools?.some((pattern) => like(pattern, data.tool)) === false) return false;
  const [earliest, latest] = [wanted.since, wanted.until];
  if (timestamp === null && (earliest !== undefined || latest !== undefined)) return false;
  if (earliest !== undefined && (timestamp ?? '') < new Date(earliest).toISOString()) return false;
  if (latest !== undefined && (timestamp ?? '') > new Date(latest).toISOString()) return false;
  const { source } = data as { source?: { kind: string } | null };
  const isSource = type === 'user:message' && wanted.sources?.some((kind) => kind === source?.kind);
  if (wanted.sources !== undefined && isSource !== true) return false;
  if (wanted.failed && !failedIn(type, data)) return false;
  if (wanted.grep === undefined) return true;
  const texts: string[] = [];
  JSON.stringify(data, function (this: JsonObject, key, value: unknown) {
    if (typeof value === 'string' && !(this.kind === 'image' && key === 'base64')) texts.push(value);
    return value;
  });
  const [, body, flags] = /^\/(.*)\/(i?)$/.exec(wanted.grep) ?? [];
  const expression =
    body === undefined ? new RegExp(wanted.grep.replace(/[^\w]/g, '\\$&'), 'i') : new RegExp(body, flags);
  return texts.some((text) => expression.test(text));
}

function failedIn(type: string, data: JsonObject): boolean {
  if ((failures as readonly string[]).includes(type)) return true;
  if (type === 'agent:tool_result') return data.status === 'error';
  return data.decision === 'deny' || (type === 'session:complete' && data.status === 'error');
}

/** The first event that is not selected as it is defined, in words; null: none. */
async function wrongSelection(make: MakeFilter): Promise<string | null> {
  for (let seed = 1; seed <= 1_500; seed += 1) {
    const random = randomFrom(seed);
    const events = randomEvents(random);
    const wanted = randomWanted(random);
    const filter = await make(wanted);
    for (const event of events)
      if (filter.passes(event) !== isWanted(event, wanted))
        return `seed ${seed}: ${JSON.stringify(wanted)} and ${JSON.stringify(event)}`;
  }
  return null;
}

const without =
  (key: keyof Wanted): MakeFilter =>
  ({ [key]: _, ...others }) =>
    makeFilter(others);

const mutants: readonly (readonly [string, MakeFilter])[] = [
  ...(['agentIds', 'types', 'tools', 'sources', 'failed', 'grep', 'since', 'until'] as const).map(
    (key): readonly [string, MakeFilter] => [`ignored ${key}`, without(key)],
  ),
  [
    'left out an event at the end',
    (wanted) => makeFilter({ ...wanted, ...(wanted.until !== undefined && { until: wanted.until - 1 }) }),
  ],
  [
    'left out an event at the start',
    (wanted) => makeFilter({ ...wanted, ...(wanted.since !== undefined && { since: wanted.since + 1 }) }),
  ],
  [
    'took the first of several patterns',
    (wanted) => makeFilter({ ...wanted, ...(wanted.types && { types: wanted.types.slice(0, 1) }) }),
  ],
  [
    'knew a tool only in its case',
    (wanted) =>
      makeFilter({
        ...wanted,
        ...(wanted.tools && { tools: wanted.tools.map((tool) => `${tool}${/[A-Z]/.test(tool) ? '!' : ''}`) }),
      }),
  ],
  [
    'took a regular expression as a plain text',
    (wanted) =>
      makeFilter({ ...wanted, ...(wanted.grep && { grep: wanted.grep.replace(/^\/(.*)\/i?$/, '$1') }) }),
  ],
  [
    'searched the names of fields and the bytes of images',
    async ({ grep, ...wanted }) => {
      const text = await patternOf(grep ?? 'x');
      const filter = await makeFilter(wanted);
      const reads = {
        passes: (event: CapturedEvent) =>
          filter.passes(event) && (grep === undefined || text.matches(JSON.stringify(event.data))),
      };
      return reads as EventFilter;
    },
  ],
];

describe('a filter of events', () => {
  it('selects what the definition of each criterion says, in random logs', async () => {
    expect(await wrongSelection(makeFilter)).toBeNull();
  });

  it.each(mutants)('would be found wrong by this test if it %s', async (_, mutant) => {
    expect(await wrongSelection(mutant)).not.toBeNull();
  });

  it('counts what limits of time leave out because its time is not recorded', async () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const events = randomEvents(randomFrom(seed));
      const wanted: Wanted = { types: ['agent:*'], since: start };
      const filter = await makeFilter(wanted);
      const passed = events.filter((event) => filter.passes(event));
      const ofTypes = events.filter(({ type }) => type.startsWith('agent:'));
      const untimed = ofTypes.filter(({ timestamp }) => timestamp === null);
      expect([filter.untimed, passed.length], `seed ${seed}`).toEqual([
        untimed.length,
        ofTypes.length - untimed.length,
      ]);
    }
  });

  it('is open without criteria, and selects from a stream item by item', async () => {
    const open = new EventFilter();
    expect(open.isOpen).toBe(true);
    const read: string[] = [];
    const source = async function* () {
      for (const event of randomEvents(randomFrom(7))) {
        read.push(event.id);
        yield { event };
      }
    };
    const selected = open.of(source());
    await selected.next();
    expect(read).toEqual(['event-0']);
  });
});

describe('rows that pass a filter', () => {
  it('are those in which each criterion is met by some event, in random logs', async () => {
    let some = 0;
    for (let seed = 1; seed <= 100; seed += 1) {
      const random = randomFrom(seed);
      const { events } = new RandomLog(random, 20);
      const choices = [{ agentIds: ['ann'] }, { failed: true }, { types: ['agent:tool_*'] }, { grep: 'a' }];
      const wanted = choices.filter(() => random() < 0.5);
      const pages = async function* () {
        for (let first = 0; first < events.length; first += 7) yield events.slice(first, first + 7);
      };
      const passed: number[] = [];
      for await (const row of filterRows(pages(), await makeFilter(Object.assign({}, ...wanted))))
        passed.push(row.position);
      const singles = await Promise.all(wanted.map(makeFilter));
      const expected = rowsOf(events).filter((row) =>
        singles.every((single) =>
          row.events.some((position) => single.passes(events[position] as CapturedEvent)),
        ),
      );
      expect(passed, `seed ${seed}`).toEqual(expected.map(({ position }) => position));
      if (passed.length > 0 && passed.length < rowsOf(events).length) some += 1;
    }
    expect(some).toBeGreaterThan(10);
  });
});

import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const agents = 200;
const turns = 4;
let cli: CommandLine;
let events = 0;

/** An agent that a call created, and that went back once. Every third one has a name of its own. */
function workOf(at: number): NewEvent[] {
  const agentId = `agent-${at}`;
  const call = { tool: 'Task', toolCallId: `t${at}`, metadata: {} };
  const name = at % 3 === 0 ? `Reader of the chapter ${at} of a long book` : 'Explore';
  const usage = { inputTokens: 10, outputTokens: 2 };
  return [
    { id: `c${at}`, ...newEvent('agent:tool_call', { ...call, input: {} }) },
    { id: `a${at}`, ...newEvent('agent:created', { name }, { agentId, cause: `c${at}` }) },
    ...Array.from({ length: turns }, (_, turn): NewEvent[] => [
      {
        id: `p${at}.${turn}`,
        ...newEvent('user:message', { text: `Read page ${turn}.`, source: { kind: 'user' } }, { agentId }),
      },
      newEvent(
        'agent:text',
        { text: `Page ${turn} is about bread.` },
        { agentId, messageId: `m${at}.${turn}` },
      ),
      newEvent('agent:inference', { model: 'm', usage }, { agentId, messageId: `m${at}.${turn}` }),
    ]).flat(),
    { id: `r${at}`, ...newEvent('session:rewind', { keptThrough: `p${at}.0` }, { agentId }) },
    newEvent('user:message', { text: 'Read it again.', source: { kind: 'user' } }, { agentId }),
    newEvent('agent:tool_result', { ...call, status: 'completed', output: 'done' } as never),
  ];
}

beforeAll(async () => {
  cli = commandLine();
  await using store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  const options = { role: 'lead', dispatchId: 'D1', fidelity: 'full' } as const;
  await using dispatch = await store.beginDispatch('library/tasks/many', options);
  const all = Array.from({ length: agents }, (_, at) => workOf(at)).flat();
  events = all.length;
  await dispatch.append(all);
  await dispatch.end({ status: 'completed' });
});
afterAll(() => cli[Symbol.dispose]());

it('tree prints 200 agents with branches in at most 60 lines of 80 columns', async () => {
  const { code, out } = await cli.start(['tree', 'D1'], {
    signal: new AbortController().signal,
    columns: 80,
  });
  const lines = out.trimEnd().split('\n');
  expect(code).toBe(0);
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.length).toBeLessThanOrEqual(60);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
});

it.each([
  ['show', 'D1', '-n', '40'],
  ['usage', 'D1', '--by', 'agent'],
  ['tree', 'D1'],
])('%s parses each event of 200 agents once', async (...words) => {
  const parse = vi.spyOn(JSON, 'parse');
  try {
    const { code } = await cli.hansard(...words);
    expect(code).toBe(0);
    const parsed = parse.mock.calls.filter(([text]) => /^\{"id":"/.test(String(text))).length;
    expect(parsed).toBeGreaterThanOrEqual(events);
    expect(parsed).toBeLessThan(events * 1.05);
  } finally {
    parse.mockRestore();
  }
});

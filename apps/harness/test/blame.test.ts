import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openSqliteStore } from '@hansard/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const first =
  "import { priceOf } from './prices.ts';\n\nexport function total(items) {\n  return sumOf(items);\n}\n";
const rounded = first.replace('sumOf(items)', 'Math.round(sumOf(items))');
const byPerson = rounded.replace('./prices.ts', './catalogue.ts');
const withGifts = byPerson.replace('total(items)', 'total(items, gifts = 0)');

let cli: CommandLine;
let file: string;

/** An edit as Claude Code reports it. */
function edit(id: string, tool: string, toolUseResult: object, agentId?: string): NewEvent[] {
  const links = agentId === undefined ? {} : { agentId };
  const fields = { toolCallId: id, tool, target: file, metadata: { path: file, sizeAfter: 1 } };
  return [
    newEvent('agent:tool_call', { ...fields, input: {} }, links),
    {
      ...{ type: 'agent:tool_result', ...links },
      data: { ...fields, status: 'completed', details: { toolUseResult } } as never,
    },
  ];
}

const asked = (text: string) => newEvent('user:message', { text, source: { kind: 'user' } });

/** What the sessions record, by the name of the session. */
function sessionsOf(): Record<string, NewEvent[]> {
  const replaced = (before: string, oldString: string, newString: string) => ({
    ...{ filePath: file, oldString, newString, originalFile: before, replaceAll: false, userModified: false },
  });
  const gifts = { text: 'Add gifts.', source: { kind: 'agent' as const } };
  return {
    cart: [
      asked('Write a cart.'),
      ...edit('c1', 'Write', { type: 'create', filePath: file, content: first, originalFile: null }),
      asked('Round to whole amounts.'),
      ...edit('c2', 'Edit', replaced(first, 'sumOf(items)', 'Math.round(sumOf(items))')),
    ],
    gifts: [
      asked('Let a helper add gifts.'),
      newEvent('agent:created', { name: 'helper' }, { agentId: 'a1' }),
      newEvent('user:message', gifts, { agentId: 'a1' }),
      ...edit('c3', 'Edit', replaced(byPerson, 'total(items)', 'total(items, gifts = 0)'), 'a1'),
    ],
  };
}

async function record(provider: DispatchStoreProvider, fidelity: 'full' | 'narrative') {
  await using store = openDispatchStore(provider);
  for (const [dispatchId, events] of Object.entries(sessionsOf())) {
    await using dispatch = await store.beginDispatch('shop/tasks/cart', {
      role: 'dev',
      dispatchId,
      fidelity,
    });
    await dispatch.append(events);
    await dispatch.end({ status: 'completed' });
  }
}

beforeAll(async () => {
  cli = commandLine();
  mkdirSync(join(cli.cwd, 'src'));
  file = join(cli.cwd, 'src/cart.ts');
  writeFileSync(file, `${withGifts}// checked by Ann\n`);
  await record(openJsonFileStore({ root: join(cli.cwd, '.projects') }), 'full');
});

afterAll(() => cli?.[Symbol.dispose]());

interface BlamedRow {
  readonly line: number;
  readonly origin: { readonly dispatchId: string; readonly position: number; readonly agent: string } | null;
}

describe('hansard blame', () => {
  it('says which event wrote each line, and which lines nobody recorded', async () => {
    const { code, out, err } = await cli.hansard('blame', 'src/cart.ts', '--utc');
    expect([code, err]).toEqual([
      0,
      'hansard: the file was changed without a record after the last recorded content.\n',
    ]);
    const lines = out.split('\n').slice(0, 6);
    expect(lines.map((line) => line.replace(/ {2,}/g, '  '))).toEqual([
      "not on record  1  import { priceOf } from './catalogue.ts';",
      'not on record  2',
      'gifts ~4  3  export function total(items, gifts = 0) {',
      'cart ~5  4  return Math.round(sumOf(items));',
      'not on record  5  }',
      'not on record  6  // checked by Ann',
    ]);
    expect(out).toContain('2 of 6 lines on record.');
    expect(out).toContain('Edit of helper  1 line  shop/cart\n  asked by an agent 2: Add gifts.');
    expect(out).toContain('prompt 3: Round to whole amounts.');
  });

  it('answers for one line or a range, also as JSON', async () => {
    const rows = (await cli.hansard('blame', 'src/cart.ts:3-4', '--json')).json() as BlamedRow[];
    expect(rows).toMatchObject([
      { line: 3, origin: { dispatchId: 'gifts', position: 4, agent: 'helper', gaps: 1, lineThen: 3 } },
      { line: 4, origin: { dispatchId: 'cart', position: 5, gaps: 2, prompt: { position: 3 } } },
    ]);
  });

  it('prints the recorded changes, and where the file changed between them without a record', async () => {
    const { code, out } = await cli.hansard('blame', 'src/cart.ts', '--history');
    expect(code).toBe(0);
    expect(out.match(/wrote .*/g)).toEqual([
      'wrote 5 lines, removed 0',
      'wrote 1 line, removed 1',
      'wrote 1 line, removed 1',
    ]);
    expect(out).toContain('Changed without a record before this: 3 lines');
  });

  it('finds the same in a store with an index', async () => {
    using other = commandLine();
    mkdirSync(join(other.cwd, '.projects'));
    await record(openSqliteStore({ path: join(other.cwd, '.projects/hansard.sqlite') }), 'full');
    writeFileSync(join(other.cwd, 'hansard.config.json'), '{ "store": "@hansard/store-sqlite" }');
    const placesOf = async ({ hansard }: CommandLine) =>
      ((await hansard('blame', file, '--json')).json() as BlamedRow[]).map(
        ({ origin }) => origin && `${origin.dispatchId} ${origin.position}`,
      );
    expect(await placesOf(other)).toEqual(await placesOf(cli));
    expect(await placesOf(other)).toContain('gifts 4');
  });

  it('finds a file that was moved by the path that was recorded', async () => {
    const moved = join(cli.cwd, 'cart.ts');
    renameSync(file, moved);
    const unknown = await cli.hansard('blame', 'cart.ts');
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining(`\n  ${file}\n`) });
    expect((await cli.hansard('blame', 'cart.ts:3', '--recorded-as', file)).out).toContain('gifts ~4');
    renameSync(moved, file);
  });

  it.each([
    ['a file that does not exist', ['src/none.ts'], 2, 'There is no file'],
    ['a line that does not exist', ['src/cart.ts:7'], 2, 'src/cart.ts has 6 lines, so 7 is not among them.'],
    ['a folder', ['src'], 2, "can't be read"],
    ['a file of which nothing is recorded', ['hansard.config.json'], 1, 'No session on record changed'],
  ])('explains %s', async (_, args, code, message) => {
    writeFileSync(join(cli.cwd, 'hansard.config.json'), '{}');
    const answer = await cli.hansard('blame', ...args);
    rmSync(join(cli.cwd, 'hansard.config.json'));
    expect(answer).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
  });

  it('says at once that a narrative has no contents', async () => {
    using other = commandLine();
    await record(openJsonFileStore({ root: join(other.cwd, '.projects') }), 'narrative');
    const { code, err } = await other.hansard('blame', file);
    expect(code).toBe(1);
    expect(err).toContain('were recorded as a narrative, without contents of files.');
  });

  it('is exported as Agent Trace, with the address of the event as the URL', async () => {
    const { code, out, err } = await cli.hansard('export', 'shop/cart', '--as', 'agent-trace');
    expect([code, err]).toEqual([
      0,
      'hansard: 3 lines in no range: what wrote them is not on record.\nhansard: Not in agent-trace: 1 agent:created, 3 agent:tool_call, 1 agent:tool_result, 4 user:message.\n',
    ]);
    const record = JSON.parse(out);
    expect(record).toMatchObject({
      version: '0.1.0',
      id: expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      timestamp: expect.stringMatching(/Z$/),
      tool: { name: 'hansard', version: expect.any(String) },
      files: [{ path: file, conversations: expect.any(Array) }],
      metadata: { 'dev.hansard': { lines: 5, notOnRecord: 3 } },
    });
    const [{ conversations }] = record.files as [{ conversations: { url: string; ranges: unknown[] }[] }];
    expect(conversations.map(({ url }) => url)).toEqual([
      expect.stringMatching(/^hansard:shop\/cart\/gifts\?event=[0-9A-Z]{26}$/),
      expect.stringMatching(/^hansard:shop\/cart\/cart\?event=[0-9A-Z]{26}$/),
    ]);
    // Printed as `sha256sum` prints it for the line with its line feed.
    const line = 'export function total(items, gifts = 0) {\n';
    const hash = createHash('sha256').update(line).digest('hex');
    expect(conversations[0]?.ranges).toEqual([
      { start_line: 3, end_line: 3, content_hash: `sha256:${hash}` },
    ]);
  });
});

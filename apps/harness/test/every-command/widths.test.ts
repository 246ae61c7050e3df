import { stripVTControlCharacters } from 'node:util';
import { columnsOf } from '@hansard/views';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CommandCall, commandCalls } from './command-calls.ts';
import { type RecordedStore, recordStore } from './recorded-store.ts';

let store: RecordedStore;
let calls: CommandCall[];

beforeAll(async () => {
  store = await recordStore({});
  // The viewer runs until it is stopped; an export and a seal are for other programs.
  calls = (await commandCalls(store)).filter(
    ({ isWriting, args: [first = '', second] }) =>
      !isWriting && !['view', 'export'].includes(first) && second !== 'seal',
  );
});

afterAll(() => store?.line[Symbol.dispose]());

const onTerminal = (args: readonly string[], columns: number) =>
  store.line.start(args, { signal: new AbortController().signal, columns });

it.each([80, 60])('every answer fits %d columns', async (columns) => {
  const wide: unknown[] = [];
  let lines = 0;
  for (const { args } of calls) {
    if (args.includes('--json')) continue;
    const { out } = await onTerminal(args, columns);
    for (const line of stripVTControlCharacters(out).split('\n')) {
      lines += 1;
      if (columnsOf(line) > columns) wide.push([args.join(' '), columnsOf(line), line]);
    }
  }
  expect(lines).toBeGreaterThan(300);
  expect(wide.map((one) => JSON.stringify(one)).join('\n')).toBe('');
});

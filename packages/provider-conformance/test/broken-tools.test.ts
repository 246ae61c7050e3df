import type { JsonValue, ToolCall, ToolOutcome, ToolProvider } from '@hansard/provider';
import { expect, it } from 'vitest';
import { toolConformance } from '../src/index.ts';
import { goodTools, lookAt, toolsUnderTest } from './good-providers.ts';

const listed = (change: object) => () => {
  const [tool] = goodTools().listTools() as readonly object[];
  return goodTools({ listTools: () => [{ ...tool, ...change }] as never });
};

const calling = (callTool: (call: ToolCall) => Promise<ToolOutcome>) => () => goodTools({ callTool });

const faults: ReadonlyArray<readonly [fault: string, caseId: string, open: () => ToolProvider]> = [
  ['is for another version of the contract', 'contract', () => goodTools({ contract: 2 as never })],
  ['has no description', 'definitions', listed({ description: undefined })],
  [
    'lists a tool twice',
    'unique-names',
    () => {
      const [tool] = goodTools().listTools() as readonly never[];
      return goodTools({ listTools: () => [tool, tool] as never });
    },
  ],
  ['takes a list as input', 'input-schemas', listed({ inputSchema: { type: 'array' } })],
  [
    'numbers its descriptions',
    'same-list',
    () => {
      const numbers = [1, 2, 3, 4][Symbol.iterator]();
      const [tool] = goodTools().listTools() as readonly object[];
      return goodTools({
        listTools: () => [{ ...tool, description: `Looks, ${numbers.next().value}.` }] as never,
      });
    },
  ],
  [
    'gives metadata that is not JSON',
    'outcome-shape',
    calling(async (call) => {
      const outcome = await lookAt(call);
      return outcome.status === 'completed' ? { ...outcome, metadata: { at: Number.NaN } } : outcome;
    }),
  ],
  [
    'completes a call of an unknown tool',
    'unknown-tool',
    calling(async (call) => (call.tool === 'look' ? lookAt(call) : { status: 'completed', text: '' })),
  ],
  [
    'gives up after a failure',
    'after-failure',
    () => {
      let hasFailed = false;
      return goodTools({
        callTool: async (call) => {
          if (hasFailed) throw new Error('It failed before.');
          hasFailed = call.tool !== 'look';
          return lookAt(call);
        },
      });
    },
  ],
  [
    'completes a call with a wrong input',
    'wrong-input',
    calling(async (call) => {
      const outcome = await lookAt(call);
      return { ...outcome, status: call.tool === 'look' ? 'completed' : 'error' };
    }),
  ],
  [
    'hangs for an input of another kind',
    'any-input',
    calling((call) => (call.input === null ? new Promise(() => {}) : lookAt(call))),
  ],
  [
    'makes one call at a time',
    'parallel',
    () => {
      let isBusy = false;
      return goodTools({
        callTool: async (call) => {
          if (isBusy) return { status: 'error', text: 'Error: busy.' };
          isBusy = true;
          try {
            return await lookAt(call);
          } finally {
            isBusy = false;
          }
        },
      });
    },
  ],
  [
    'fills a default in to the input that it was given',
    'leaves-call',
    calling((call) => {
      const { input } = call as { input: Record<string, JsonValue> };
      if (typeof input?.at === 'string') input.from ??= 'here';
      return lookAt(call);
    }),
  ],
  [
    'uses one object for all metadata',
    'outcome-stays',
    () => {
      const metadata: Record<string, number> = { calls: 0 };
      return goodTools({
        callTool: async (call) => {
          metadata.calls = (metadata.calls ?? 0) + 1;
          return { ...(await lookAt(call)), metadata };
        },
      });
    },
  ],
  [
    'hangs when it was stopped before',
    'aborted-before',
    calling((call) => (call.signal.aborted ? new Promise(() => {}) : lookAt(call))),
  ],
  [
    'does not listen to its signal',
    'aborted-during',
    calling(async (call) => {
      const { at } = (call.input ?? {}) as { readonly at?: string };
      return at === 'far' ? new Promise(() => {}) : lookAt(call);
    }),
  ],
  [
    'hangs when it is closed a second time',
    'close-twice',
    () => {
      const closes = [() => {}, () => new Promise<never>(() => {}), () => {}][Symbol.iterator]();
      return goodTools({ close: () => closes.next().value?.() });
    },
  ],
];

it('tools that keep the contract pass every case', async () => {
  const results = await toolConformance.run(toolsUnderTest(goodTools));
  expect(results.filter(({ error }) => error !== null)).toEqual([]);
});

it.each(faults)('a tool provider that %s fails exactly the case %s', async (_, caseId, open) => {
  const results = await toolConformance.run(toolsUnderTest(open));
  expect(results.filter(({ error }) => error !== null).map(({ id }) => id)).toEqual([`tools/${caseId}`]);
});

it('every case for a tool provider has a fault that it names', () => {
  const ids = toolConformance.cases.map(({ id }) => id);
  expect(new Set(faults.map(([, caseId]) => `tools/${caseId}`))).toEqual(new Set(ids));
  expect(new Set(ids).size).toBe(ids.length);
});

it('passes a slow call that fails before it is stopped, without an unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    const hasty = calling((call) =>
      call.input === undefined ? lookAt(call) : Promise.reject(new Error('no')),
    );
    const results = await toolConformance.run(toolsUnderTest(hasty), ['tools/aborted-during']);
    expect(results).toEqual([{ id: 'tools/aborted-during', error: null }]);
  } finally {
    process.off('unhandledRejection', note);
  }
  expect(unhandled).toEqual([]);
});

import { type CapturedEvent, isEventOf, newEvent, PrintedForm, reviveSnapshot } from '@hansard/events';
import type { ToolCall, ToolOutcome } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate } from '../support/gate.ts';
import { says } from '../support/scripted-agent.ts';
import { prepare } from './project-tools-scenario.ts';
import { done, tools, use } from './scripted-tools.ts';

const observedIn = (events: readonly CapturedEvent[]) =>
  events.flatMap((one) => (isEventOf(one, 'agent:output') ? [one.data.parts.map(reviveSnapshot)] : []));

/** A run whose agent, an agent of its engine, calls the tool `look` once. */
async function look(
  act: (call: ToolCall) => ToolOutcome | Promise<ToolOutcome>,
  more: Parameters<ReturnType<typeof prepare>['start']>[1] = {},
  provider?: Parameters<typeof prepare>[0],
  onResult: () => void = () => {},
) {
  const { start, log } = prepare(provider);
  const outcomes: ToolOutcome[] = [];
  const run = await start(
    async function* (request) {
      const call = { toolCallId: 'c1', tool: 'look', metadata: {} };
      yield { kind: 'event', event: newEvent('agent:tool_call', call, { agentId: 'helper' }) };
      outcomes.push(await use(request, 'look', {}, { agentId: 'helper' }));
      onResult();
      yield says('done');
    },
    { tools: [tools({ look: act })], ...more },
  );
  const envelope = await run.ended;
  return { events: await log(), outcome: outcomes[0], envelope };
}

const rows = () => new Map([['rows', [{ id: 1 }]]]);
const page = `${'word '.repeat(1_000)}LAST`;
const picture = { mediaType: 'image/png', bytes: new Uint8Array([137, 80, 78, 71]) };

describe('a value that a tool of a run observed', () => {
  it.each(['full', 'narrative'] as const)(
    'is in the log of a %s dispatch as it was at the call, with the call as its cause',
    async (fidelity) => {
      const seen = rows();
      const { events } = await look(
        async (call) => {
          const recorded = call.observe('printed', seen);
          seen.clear();
          expect(await recorded).toMatch(/./);
          return done('Done.');
        },
        { fidelity },
      );
      expect(observedIn(events)).toEqual([['printed', rows()]]);
      const [output] = events.filter(({ type }) => type === 'agent:output');
      const call = events.find(({ type }) => type === 'agent:tool_call');
      expect(output).toMatchObject({ cause: call?.id, agentId: 'helper' });
      expect(output?.data).not.toHaveProperty('leftOut');
    },
  );

  it('is whole in a full dispatch, and in a narrative one cut at 2,000 characters, which says what is missing', async () => {
    const values = ['short', picture, page, 'after the page'];
    const [full, narrative] = await Promise.all(
      (['full', 'narrative'] as const).map((fidelity) =>
        look((call) => call.observe(...values).then(() => done('Done.')), { fidelity }),
      ),
    );
    expect(observedIn(full?.events ?? [])).toEqual([
      ['short', new PrintedForm('[image/png 4 bytes, sha256 0f4636c7…]'), page, 'after the page'],
    ]);
    const output = narrative?.events.find(({ type }) => type === 'agent:output');
    expect(observedIn(narrative?.events ?? [])).toEqual([
      [
        'short',
        new PrintedForm('[image/png 4 bytes, sha256 0f4636c7…]'),
        expect.stringMatching(/^(?:word )+…$/),
      ],
    ]);
    expect(JSON.stringify(output).length).toBeLessThan(2_500);
    expect(output?.data.leftOut).toEqual({ parts: expect.any(Number) });
  });

  it('is durable before the agent has the result, though the tool did not wait for it and the store is slow', async () => {
    const gate = new Gate();
    const order: string[] = [];
    const slow = changedStore((inner) => ({
      async appendEvent(task, id, event) {
        if (event.type === 'agent:output') {
          await gate.opened;
          order.push('stored');
        }
        return inner.appendEvent(task, id, event);
      },
    }));
    const { events } = await look(
      (call) => {
        void call.observe('one');
        void call.observe('two');
        setImmediate(() => setImmediate(() => gate.open()));
        return done('Done.');
      },
      {},
      slow,
      () => order.push('result'),
    );
    expect(order).toEqual(['stored', 'stored', 'result']);
    expect(observedIn(events)).toEqual([['one'], ['two']]);
  });

  it('is refused after the call, and ends no process if nobody waits for it', async () => {
    let kept: ToolCall | undefined;
    const { events } = await look((call) => {
      kept = call;
      return done('Done.');
    });
    void kept?.observe('nobody waits');
    await expect(kept?.observe('late')).rejects.toMatchObject({
      code: 'DISPATCH_CALL_OVER',
      details: { toolCallId: 'c1' },
    });
    expect(observedIn(events)).toEqual([]);
  });
});

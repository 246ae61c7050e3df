import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';

/** `bakery/rolls`: a session that went back and was used by two programs, and its fork. `bakery/buns`: one that went back to its beginning. */
export async function writeBranchedStore(folder: string): Promise<void> {
  const store = openDispatchStore(openJsonFileStore({ root: join(folder, '.projects') }));
  const main = await store.beginDispatch('bakery/tasks/rolls', { role: 'baker', dispatchId: 'D1', ...facts });
  await main.append(rolls());
  await main.end({ status: 'completed', completedAt: at(29) });
  const fork = await store.beginDispatch('bakery/tasks/rolls', { role: 'baker', dispatchId: 'D2', ...facts });
  const from = { product: 'hansard', sessionId: 'D1', dispatchId: 'D1', recordId: 'i1' };
  await fork.append([
    ...timed([{ id: 'f1', ...newEvent('session:fork', { from, kind: 'fork' }) }]),
    ...rolls().slice(0, 3),
    ...timed([asked('p9', 'And without salt?'), said('t9', 'That would be bland.')]),
  ]);
  await fork.end({ status: 'completed', completedAt: at(29) });
  const again = await store.beginDispatch('bakery/tasks/buns', { role: 'baker', dispatchId: 'D3', ...facts });
  await again.append(
    timed([
      asked('b1', 'Write a recipe for buns.'),
      said('b2', 'With raisins?'),
      { id: 'b3', ...newEvent('session:rewind', { keptThrough: null }) },
      asked('b4', 'Write a short recipe for buns.'),
    ]),
  );
  await again.end({ status: 'completed', completedAt: at(29) });
  await store.close();
}

const facts = { fidelity: 'full', startedAt: '2026-03-01T09:30:00.000Z' } as const;

const at = (minute: number) => `2026-03-01T09:${String(30 + minute).padStart(2, '0')}:00.000Z`;

function timed(events: readonly NewEvent[]): NewEvent[] {
  return events.map((event, minute) => ({ ...event, timestamp: at(minute % 29) }));
}

function asked(id: string, text: string, follows?: string): NewEvent {
  const message = newEvent('user:message', { text, source: { kind: 'user' } });
  return { id, ...message, ...(follows === undefined ? {} : { follows }) };
}

function said(id: string, text: string): NewEvent {
  return { id, ...newEvent('agent:text', { text }), messageId: `m-${id}` };
}

function called(id: string, messageId: string): NewEvent {
  const usage = { inputTokens: 100, outputTokens: 20 };
  return { id, ...newEvent('agent:inference', { model: 'm', usage, costUsd: 0.01 }), messageId };
}

function weighs(id: string, flour: string): NewEvent[] {
  const call = { toolCallId: `c-${id}`, tool: 'weigh', target: flour, metadata: {} };
  return [
    { id, ...newEvent('agent:tool_call', { ...call, input: { flour } }) },
    { id: `${id}-r`, ...newEvent('agent:tool_result', { ...call, status: 'completed', output: '500 g' }) },
  ];
}

function rolls(): NewEvent[] {
  return timed([
    asked('p1', 'Write a recipe for rolls.'), // 0
    said('t1', 'With which flour?'),
    called('i1', 'm-t1'),
    asked('p2', 'Wheat.'), // 3: abandoned
    ...weighs('w1', 'wheat'),
    said('t2', 'Wheat rolls it is: 500 g of flour.'),
    called('i2', 'm-t2'),
    asked('p3', 'Add seeds.'),
    said('t3', 'Poppy seeds, then.'),
    { id: 'r1', ...newEvent('session:rewind', { keptThrough: 't1' }) }, // 10
    asked('p4', 'Rye.'),
    ...weighs('w2', 'rye'),
    said('t4', 'Rye rolls it is.'),
    called('i4', 'm-t4'),
    asked('p5', 'Shorter, please.'), // 16: parallel
    said('t5', 'Rye rolls.'),
    asked('p6', 'How long do they bake?', 't4'), // 18: a second program
    said('t6', 'Twenty minutes.'),
    { id: 's1', type: 'system:model_refusal_fallback', data: {}, retracts: ['t6'] },
    said('t7', 'Eighteen minutes.'),
  ]);
}

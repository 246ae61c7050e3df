import type { CapturedEvent, JsonObject } from '@hansard/events';
import { sampleEvents } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { exported, textOf } from './exported.ts';
import { event, oneDispatch } from './sample-run.ts';

/** A message of a model as other programs record it. */
const recorded: JsonObject = {
  type: 'assistant',
  message: {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'THOUGHT', signature: 's' },
      { type: 'text', text: 'said' },
    ],
  },
  thinking: 'THOUGHT',
};

/** Types that Hansard does not define: entries of the SDK's session store, records of sessions, of imports and of games. */
const foreign = [
  'claude:assistant',
  'session_v1:assistant',
  'session_v2:assistant',
  'agent:redacted_thinking',
  'agent:reasoning',
  'user:thinking',
  'system:attachment',
  'system:tool_progress',
  'game:vote',
];

const foreignEvents = foreign.map((type, index) => made(type, `f${index}`, recorded));

/** Each type of Hansard, with a message in the fields beside its own. */
const knownEvents = Object.values(sampleEvents).map(({ id, type, data }) =>
  made(type, id, {
    ...data,
    ...(type === 'agent:thinking' ? { text: 'THOUGHT' } : {}),
    ...(type === 'agent:inference' ? { replay: recorded } : {}),
    ...(type === 'user:message' ? { source: { kind: 'user', details: recorded } } : {}),
    ...(type === 'agent:output' ? { parts: [{ kind: 'text', text: 'seen', raw: recorded }] } : {}),
    details: recorded,
    raw: JSON.stringify(recorded),
  }),
);

describe('thoughts in a trace', () => {
  it.each(['events', 'spans'] as const)(
    'are only there with `reasoning`, whatever event has them (content: %s)',
    async (content) => {
      for (const one of [...foreignEvents, ...knownEvents]) {
        expect(await textOf(oneDispatch([one]), { content }), one.type).not.toContain('THOUGHT');
      }
      const run = oneDispatch([...foreignEvents, ...knownEvents]);
      const { logs } = await exported(run, { content, reasoning: true });
      const bodies = new Map(logs.map(({ attributes, body }) => [attributes['hansard.event.type'], body]));
      for (const type of [...foreign, 'system:notice', 'user:message'])
        expect(JSON.stringify(bodies.get(type)), type).toContain('THOUGHT');
    },
  );

  it('are not looked for in types whose data has none, as the caller says', async () => {
    const dataOf = (type: string) => type.startsWith('game:') || type.startsWith('agent:');
    const { logs } = await exported(oneDispatch([...foreignEvents, ...knownEvents]), {
      content: 'events',
      dataOf,
    });
    const shown = logs.flatMap(({ attributes, body }) =>
      JSON.stringify(body ?? null).includes('THOUGHT') ? [attributes['hansard.event.type']] : [],
    );
    expect(shown).toEqual(['agent:redacted_thinking', 'agent:reasoning', 'game:vote']);
    const none = await textOf(oneDispatch(foreignEvents), { content: 'none', dataOf });
    expect(none).not.toContain('THOUGHT');
  });

  it('are not in data that does not match its type', async () => {
    const odd = made('harness:abort', 'a1', { reason: { thinking: 'THOUGHT' } });
    expect(await textOf(oneDispatch([odd]), { content: 'events' })).not.toContain('THOUGHT');
  });

  it('do not take the fields with them that an event has by its type', async () => {
    const data = { text: 'Begin.', source: { kind: 'user' as const } };
    const { logs } = await exported(oneDispatch([event('u1', 0, 'user:message', { ...data, ...recorded })]), {
      content: 'events',
    });
    expect(logs[0]?.body).toEqual(data);
  });
});

function made(type: string, id: string, data: JsonObject): CapturedEvent {
  return { id, type: type as CapturedEvent['type'], timestamp: '2026-03-01T09:30:00.000Z', data };
}

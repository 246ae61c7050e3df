import { type CapturedEvent, isEventOf, type JsonObject } from '@hansard/events';
import { event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  type ContextPolicy,
  compareContexts,
  contextErrors,
  createContextRenderer,
  renderCalls,
} from '../../src/index.ts';
import { thrown } from './context-scenario.ts';
import { heard, randomLog, said, system, words } from './make-agent-log.ts';

const usage = { inputTokens: 1, outputTokens: 1 };

/** A log in which each `agent:inference` has the manifest of a rendered context, and those contexts. */
function recordedLog(seed: number, policy: ContextPolicy) {
  const renderer = createContextRenderer({ policy, tokens: words });
  const given: string[] = [];
  const events = randomLog(seed, 200).map((next): CapturedEvent => {
    if (!isEventOf(next, 'agent:inference')) {
      renderer.observe(next);
      return next;
    }
    const { messages, manifest } = renderer.render();
    given.push(JSON.stringify(messages));
    const inference = {
      ...next,
      data: { ...next.data, context: structuredClone(manifest) as unknown as JsonObject },
    };
    renderer.observe(inference);
    return inference;
  });
  return { events, given };
}

describe('the calls of a log, rendered again', () => {
  it('are the prompts that were given, all in one pass', () => {
    for (const policy of [
      { name: 'full' },
      { name: 'faded', budget: 3_000 },
      { name: 'lastMessages', count: 5 },
    ] as const) {
      const { events, given } = recordedLog(21, policy);
      const calls = [...renderCalls(events, { counters: [words] })];
      expect(calls.map(({ messages }) => JSON.stringify(messages))).toEqual(given);
      for (const { recorded, manifest } of calls)
        expect(recorded === null ? null : compareContexts(recorded, manifest)).toEqual([]);
      expect(given.length).toBeGreaterThan(3);
    }
  });

  it('show that the log was changed after they were recorded', () => {
    const { events } = recordedLog(22, { name: 'full' });
    const changed = events.map((next) =>
      isEventOf(next, 'agent:system_prompt') ? { ...next, data: { text: 'forged' } } : next,
    );
    const [call] = renderCalls(changed, { counters: [words] });
    expect(call?.recorded && compareContexts(call.recorded, call.manifest)).toEqual([
      expect.stringMatching(/^hash: recorded sha256:[0-9a-f]{64}, rendered sha256:[0-9a-f]{64}$/),
      expect.stringMatching(/^tokens: /),
    ]);
  });

  it('have, without a manifest, the messages of their agent before the answer', () => {
    const inference = (agentId: string, messageId: string) =>
      event('agent:inference', { model: 'm', usage }, { agentId, messageId });
    const events = [
      event('agent:created', {}, { agentId: 'a' }),
      { ...system('You are a.'), agentId: 'a' },
      heard('of nobody, so of the root'),
      { ...heard('to b'), agentId: 'b' },
      { ...said('b speaks', 'mb'), agentId: 'b' },
      { ...said('a speaks', 'ma'), agentId: 'a' },
      inference('b', 'mb'),
      inference('a', 'ma'),
    ];
    const calls = [...renderCalls(events)].map(({ agentId, recorded, messages }) => [
      agentId,
      recorded,
      messages.map(({ text }) => text),
    ]);
    expect(calls).toHaveLength(2);
    expect(calls).toContainEqual(['a', null, ['You are a.', 'of nobody, so of the root']]);
    expect(calls).toContainEqual(['b', null, ['to b']]);
    const [only] = renderCalls(events, {
      only: ({ agentId }) => agentId === 'a',
      policy: { name: 'lastMessages', count: 1 },
    });
    expect(only?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
  });

  it('have messages that arrived during a call after its answer', () => {
    const live = createContextRenderer();
    const events: CapturedEvent[] = [];
    const add = (...added: readonly CapturedEvent[]) => {
      for (const next of added) {
        events.push(next);
        live.observe(next);
      }
    };
    const infer = (messageId: string, { manifest }: ReturnType<typeof live.render>) => {
      const context = structuredClone(manifest) as unknown as JsonObject;
      return event('agent:inference', { model: 'm', usage, context }, { messageId });
    };
    add(heard('One'));
    const first = live.render();
    add(heard('late'), said('First', 'm-first'), infer('m-first', first));
    const second = live.render();
    add(said('Second', 'm-second'), infer('m-second', second));
    const texts = [...renderCalls(events)].map(({ messages }) => messages.map(({ text }) => text));
    expect(texts).toEqual([['One'], ['One', 'First', 'late']]);
    for (const { recorded, manifest } of renderCalls(events)) expect(recorded?.hash).toBe(manifest.hash);
    // If only the last call is asked for, no earlier prompt is rendered.
    const [last] = renderCalls(events, { only: ({ messageId }) => messageId === 'm-second' });
    expect(last?.recorded?.hash).toBe(last?.manifest.hash);
  });

  it('are refused where a manifest is of another version, of an unavailable counter, or of another log', () => {
    const { events } = recordedLog(23, { name: 'faded', budget: 3_000 });
    expect(() => [...renderCalls(events)]).toThrow(/counter words, which is not available/);
    const withContext = (context: JsonObject) => [event('agent:inference', { model: 'm', usage, context })];
    const failures = [{ rendererVersion: 2 }, {}, { rendererVersion: 1 }].map((context) =>
      thrown(() => [...renderCalls(withContext(context))]),
    );
    for (const failure of failures) expect(contextErrors.is(failure, 'CONTEXT_MANIFEST_UNKNOWN')).toBe(true);
    const last = events.findLast((next) => isEventOf(next, 'agent:inference'));
    expect(() => [...renderCalls(last === undefined ? [] : [last], { counters: [words] })]).toThrow(
      /which is not in the log/,
    );
  });
});

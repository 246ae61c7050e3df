import { type EventData, eventErrors, snapshot } from '@hansard/events';
import { anyEvent, event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  type ContextMessage,
  type ContextPolicy,
  createContextRenderer,
  renderContext,
} from '../../src/index.ts';
import { hashOf, policies, seeds, texts, thrown } from './context-scenario.ts';
import {
  called,
  compacted,
  heard,
  observed,
  randomLog,
  result,
  said,
  system,
  words,
} from './make-agent-log.ts';

describe('the rule of the unified event log', () => {
  it('shows only the output since the last action, as a message of the user', () => {
    const events = [heard('Go'), observed('old'), said('I look again'), observed('new'), observed('newer')];
    const { messages, manifest } = renderContext(events);
    expect(messages).toEqual([
      { role: 'user', text: 'Go' },
      { role: 'assistant', text: 'I look again', toolCalls: [] },
      { role: 'user', text: 'new\nnewer' },
    ]);
    expect(manifest.omitted).toEqual({ supersededOutput: 1 });
  });

  it('holds in any log: the prompt has all output since the last action, in order, and no other', () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const events = randomLog(seed, 150)
        .filter(({ type }) => type !== 'session:compaction')
        .map((next, index) => (next.type === 'agent:output' ? observed(`seen ${index}`) : next));
      const actions = new Set<string>();
      const shown = { omitted: [] as string[], kept: [] as string[] };
      for (const [index, { type, messageId = '' }] of events.entries()) {
        const isAction = type === 'agent:text' || type === 'agent:tool_call';
        if (isAction && !actions.has(messageId)) shown.omitted = [];
        if (isAction) actions.add(messageId);
        if (type === 'agent:output') for (const list of Object.values(shown)) list.push(`seen ${index}`);
      }
      for (const earlierOutput of ['omitted', 'kept'] as const) {
        const { messages } = renderContext(events, { policy: { name: 'full', earlierOutput } });
        const lines = messages.flatMap(({ text }) => text.split('\n'));
        expect(
          lines.filter((line) => line.startsWith('seen ')),
          `seed ${seed}`,
        ).toEqual(shown[earlierOutput]);
      }
    }
  });

  it('keeps earlier output if the policy says so', () => {
    const events = [observed('old'), said('I look again'), observed('new')];
    const { messages } = renderContext(events, { policy: { name: 'full', earlierOutput: 'kept' } });
    expect(texts(messages)).toEqual(['old', 'I look again', 'new']);
  });

  it('puts output after the results of the calls during which it was observed', () => {
    const events = [called('c1'), observed('seen'), result('c1', 'done')];
    expect(texts(renderContext(events).messages)).toEqual(['', 'done', 'seen']);
  });

  it('prints values as they were, the same in every runtime', () => {
    const parts: EventData<'agent:output'>['parts'] = [
      { kind: 'json', json: { a: [1] } },
      { kind: 'image', mediaType: 'image/png', base64: 'AAAA' },
      { kind: 'image', mediaType: 'image/gif', base64: 'AAA=' },
      { kind: 'repr', repr: '[Function: f]' },
      { kind: 'value', encoding: 'devalue', encoded: '[["Map",1,2],"k",["Set",3],["BigInt","7"]]' },
    ];
    const { messages } = renderContext([event('agent:output', { parts })]);
    expect(messages[0]?.text.split('\n')).toEqual([
      '{"a":[1]}',
      '[image/png 3 bytes]',
      '[image/gif 2 bytes]',
      '[Function: f]',
      'Map {"k" => Set {7n}}',
    ]);
  });

  it('shows an observed error with its code and cause, without its stack', () => {
    const cause = new TypeError('no such column');
    const error = Object.assign(new Error('the query failed', { cause }), { code: 42 });
    const parts = [snapshot(error), snapshot([new Error('')])];
    const { messages } = renderContext([event('agent:output', { parts })]);
    expect(messages[0]?.text.split('\n')).toEqual([
      'Error: the query failed {code: 42, cause: TypeError: no such column}',
      '[Error]',
    ]);
  });
});

describe('a context', () => {
  it('is the same, byte for byte, however often it was rendered in between', () => {
    for (const seed of seeds)
      for (const policy of policies) {
        const events = randomLog(seed, 200);
        const renderer = createContextRenderer({ policy, tokens: words });
        for (const [index, next] of events.entries()) {
          renderer.observe(next);
          if (index % 37 !== seed) continue;
          const { messages, manifest } = renderer.render();
          const once = renderContext(events.slice(0, index + 1), { policy, tokens: words });
          expect(JSON.stringify(messages), `seed ${seed}, ${policy.name}, ${index}`).toBe(
            JSON.stringify(once.messages),
          );
          expect({ ...manifest, prefix: null }).toEqual({ ...once.manifest, prefix: null });
        }
      }
  });

  it('has a hash of its messages as JSON lines, which any tool can compute', () => {
    for (const policy of policies) {
      const { messages, manifest } = renderContext(randomLog(11, 400), { policy, tokens: words });
      expect(manifest.hash).toBe(hashOf(messages));
    }
    expect(renderContext([heard('a lone \ud800 and \u2028')]).manifest.hash).toBe(
      hashOf([{ role: 'user', text: 'a lone \ud800 and \u2028' }]),
    );
  });

  it('gives the unchanged beginning, with its share and its hash', () => {
    for (const policy of policies) {
      const renderer = createContextRenderer({ policy, tokens: words });
      let before: readonly ContextMessage[] = [];
      for (const next of randomLog(12, 120)) {
        renderer.observe(next);
        const { messages, manifest } = renderer.render();
        const { prefix } = manifest;
        expect(JSON.stringify(messages.slice(0, prefix.messages))).toBe(
          JSON.stringify(before.slice(0, prefix.messages)),
        );
        const following = [messages[prefix.messages], before[prefix.messages]].map((m) => JSON.stringify(m));
        if (messages.length > prefix.messages) expect(following[0]).not.toBe(following[1]);
        expect(prefix.hash).toBe(hashOf(messages.slice(0, prefix.messages)));
        before = messages;
      }
    }
  });

  it('has one result directly after each call and none without a call, in any log', () => {
    for (const seed of seeds)
      for (const policy of policies) {
        const { messages } = renderContext(randomLog(seed + 100, 400), { policy, tokens: words });
        const expected: string[] = [];
        for (const message of messages) {
          if (message.role === 'tool') expect(message.toolCallId).toBe(expected.shift());
          else expect(expected, `seed ${seed}, ${policy.name}`).toEqual([]);
          if (message.role === 'assistant')
            expected.push(...message.toolCalls.map(({ toolCallId }) => toolCallId));
        }
        expect(expected).toEqual([]);
      }
  });

  it('counts as many tokens in its parts as in its prompt', () => {
    for (const seed of seeds)
      for (const policy of policies) {
        const { manifest, messages } = renderContext(randomLog(seed, 350), { policy, tokens: words });
        const ofParts = manifest.parts.reduce((sum, { tokens = 0 }) => sum + tokens, 0);
        const note = manifest.omitted.old === undefined ? 0 : 10;
        expect(ofParts + note).toBe(manifest.tokens?.prompt);
        const inParts = manifest.parts.reduce((sum, { messages: shown }) => sum + shown, 0);
        expect(inParts + (note > 0 ? 1 : 0)).toBe(messages.length);
      }
  });

  it('cannot be used to change later contexts', () => {
    const renderer = createContextRenderer();
    renderer.observe(called('c1', { at: 'table' }));
    const [first] = renderer.render().messages;
    if (first?.role !== 'assistant') throw new Error('no answer');
    expect(() => Object.assign(first.toolCalls[0]?.input ?? {}, { at: 'hidden' })).toThrow(TypeError);
    (renderer.render().messages as ContextMessage[]).splice(0);
    expect(renderer.render().messages).toHaveLength(2);
  });

  it('has a manifest that does not grow with the log', () => {
    const size = (length: number, policy: ContextPolicy) =>
      JSON.stringify(renderContext(randomLog(5, length), { policy, tokens: words }).manifest).length;
    for (const policy of policies) expect(size(1_500, policy)).toBeLessThan(size(200, policy) + 150);
  });

  it('is refused if the log has an unreadable part of a prompt', () => {
    for (const type of ['agent:text', 'agent:output', 'session:compaction'] as const) {
      const unreadable = anyEvent(type, { text: 1, parts: 1, trigger: 1 });
      const failure = thrown(() => renderContext([unreadable]));
      expect(eventErrors.is(failure, 'EVENT_INVALID')).toBe(true);
    }
  });
});

describe('the last messages', () => {
  const talk = Array.from({ length: 20 }, (_, index) =>
    index % 2 === 0 ? heard(`question ${index}`) : said(`answer ${index}`),
  );

  it('are as many as asked for, after the system prompt and a note about the rest', () => {
    const policy = { name: 'lastMessages', count: 3 } as const;
    const { messages, manifest } = renderContext([system('Be brief.'), ...talk], { policy });
    expect(texts(messages)).toEqual([
      'Be brief.',
      '[17 earlier messages are not shown.]',
      'answer 17',
      'question 18',
      'answer 19',
    ]);
    expect(manifest.omitted).toEqual({ old: 17 });
    expect(manifest.tokens).toBeNull();
  });

  it('keep an answer and its results together', () => {
    const policy = { name: 'lastMessages', count: 2 } as const;
    const many = [...talk, called('c1'), result('c1', 'one'), heard('Well?')];
    expect(texts(renderContext(many, { policy }).messages).slice(1)).toEqual(['Well?']);
    const id = 'm-many';
    const three = [called('x1', {}, id), called('x2', {}, id), called('x3', {}, id), result('x3', 'three')];
    expect(renderContext([...talk, ...three], { policy }).messages.slice(1)).toHaveLength(4);
  });

  it('are dropped in steps if a step is given, and are unchanged in between', () => {
    const renderer = createContextRenderer({ policy: { name: 'lastMessages', count: 10, step: 5 } });
    const isStable = Array.from({ length: 40 }, (_, index) => heard(`line ${index}`)).map((next) => {
      renderer.observe(next);
      const { messages, manifest } = renderer.render();
      expect(messages.length).toBeLessThanOrEqual(11);
      return manifest.prefix.messages === messages.length - 1;
    });
    expect(isStable.filter((is) => !is)).toHaveLength(6);
  });
});

describe('a compaction', () => {
  it('shows the summary after the system prompt, also if it replaces nothing and was rendered before', () => {
    for (const first of [[system('Be brief')], []]) {
      const kept = heard('a');
      const renderer = createContextRenderer();
      for (const event of [...first, kept]) renderer.observe(event);
      renderer.render();
      renderer.observe(compacted('So far: nothing.', first[0]?.id ?? kept.id));
      expect(renderer.render().messages.map(({ text }) => text)).toEqual([
        ...(first.length === 0 ? [] : ['Be brief']),
        'So far: nothing.',
        'a',
      ]);
    }
  });

  it('replaces the messages before the event that it kept, after the system prompts', () => {
    const kept = heard('kept');
    const events = [
      system('Be brief.'),
      heard('old'),
      said('older'),
      kept,
      said('answer'),
      compacted('So far: much.', kept.id),
    ];
    const { messages, manifest } = renderContext(events);
    expect(texts(messages)).toEqual(['Be brief.', 'So far: much.', 'kept', 'answer']);
    expect(manifest.omitted).toEqual({ compacted: 2 });
    expect(manifest.parts.map(({ kind }) => kind)).toEqual(['systemPrompts', 'summary', 'messages']);
  });

  it('keeps a call together with its result, if it keeps the result', () => {
    const kept = result('c1', 'done');
    const events = [heard('old'), called('c1'), kept, compacted('So far: much.', kept.id)];
    expect(renderContext(events).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('replaces all earlier messages and summaries if it names no event to keep', () => {
    const events = [heard('a'), compacted('one'), heard('b'), compacted('two'), heard('c')];
    expect(texts(renderContext(events).messages)).toEqual(['two', 'c']);
  });

  it('puts its summary in the place of the messages before the kept one, in any log', () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const events = randomLog(seed, 80).filter(
        ({ type, data }) => type !== 'session:compaction' && !/^c\d$/.test(String(data.toolCallId)),
      );
      const at = (seed * 7) % events.length;
      const kept = events[at];
      const before = renderContext(events, { policy: { name: 'full', earlierOutput: 'kept' } });
      const after = renderContext([...events, compacted('So far.', kept?.id)], {
        policy: { name: 'full', earlierOutput: 'kept' },
      });
      const rules = after.messages.filter(({ role }) => role === 'system').length;
      expect(rules).toBe(before.messages.filter(({ role }) => role === 'system').length);
      const from = after.messages.findIndex(({ text }) => text === 'So far.') + 1;
      const rest = JSON.stringify(after.messages.slice(from));
      expect(from, `seed ${seed}`).toBeGreaterThan(0);
      expect(JSON.stringify(before.messages).endsWith(rest.slice(1)), `seed ${seed}`).toBe(true);
      const missing = before.messages.length - (after.messages.length - 1);
      expect(after.manifest.omitted.compacted ?? 0).toBe(missing);
    }
  });

  it('changes nothing if it has no summary', () => {
    const events = [heard('a'), event('session:compaction', { trigger: 'auto' }), heard('b')];
    expect(texts(renderContext(events).messages)).toEqual(['a', 'b']);
  });
});

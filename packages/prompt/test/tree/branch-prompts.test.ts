import type { CapturedEvent, EventLinks } from '@hansard/events';
import { branchedLog, event, writtenMessages } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  type ContextMessage,
  createBranchRenderer,
  interruption,
  renderCalls,
  renderContext,
  TranscriptTree,
  takenBackText,
} from '../../src/index.ts';

const asked = (id: string, links: EventLinks = {}) =>
  event('user:message', { text: id, source: { kind: 'user' } }, { id, ...links });
const said = (id: string, links: EventLinks = {}) => event('agent:text', { text: id }, { id, ...links });
const called = (id: string, links: EventLinks = {}) =>
  event('agent:tool_call', { toolCallId: id, tool: 'look', input: {}, metadata: {} }, { id, ...links });
const answered = (id: string, toolCallId: string, links: EventLinks = {}) =>
  event(
    'agent:tool_result',
    { toolCallId, tool: 'look', status: 'completed', output: id, metadata: {} },
    { id, ...links },
  );
const back = (keptThrough: string | null, links: EventLinks = {}) =>
  event('session:rewind', { keptThrough }, links);
const inference = (messageId: string, more: object = {}) =>
  event(
    'agent:inference',
    { model: 'm', usage: { inputTokens: 1, outputTokens: 1 }, ...more },
    { messageId },
  );

const textOf = { takenBack: takenBackText, interrupted: interruption };
const texts = (messages: readonly ContextMessage[]) => messages.map(({ text }) => text);
const promptOf = (events: readonly CapturedEvent[]) => texts(renderContext(events).messages);

describe('the prompt of an agent that went back', () => {
  it('is its current branch at the end of a random log, and every call can be rendered (1,000 seeds)', () => {
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const { events, agents } = branchedLog({ seed, length: 40, isPlain: true });
      const tree = new TranscriptTree<CapturedEvent>();
      for (const one of events) tree.add(one, one);
      for (const { agentId, prompt } of agents) {
        const expected = writtenMessages({ events }, prompt, textOf);
        const path = tree.currentPath(agentId);
        expect(createBranchRenderer(path).render().messages, `seed ${seed}, ${agentId}`).toEqual(expected);
        const own = events.filter((one) => one.agentId === agentId);
        if (own.every(({ data }) => data.inherits === undefined))
          expect(renderContext(own).messages, `seed ${seed}, ${agentId} alone`).toEqual(expected);
      }
      const calls = [...renderCalls(events)].filter(({ recorded }) => recorded === null);
      expect(calls).toHaveLength(events.filter(({ type }) => type === 'agent:inference').length);
      // Calls on one branch share a renderer, and still have what a new one renders of their path.
      for (const { inference, messages } of calls.filter(({ agentId }) => !tree.isStraight(agentId))) {
        const own = (one: CapturedEvent) => one.agentId === inference.agentId;
        const first = events.find((one) => own(one) && one.messageId === inference.messageId);
        const path = tree.pathBefore(first?.id ?? '') ?? tree.currentPath('');
        expect(messages, `seed ${seed}, ${inference.id}`).toEqual(
          createBranchRenderer(path).render().messages,
        );
      }
    }
  });

  it('begins with what it kept', () => {
    expect(promptOf([asked('p1'), said('a1'), asked('p2'), said('a2'), back('a1'), asked('p3')])).toEqual([
      'p1',
      'a1',
      'p3',
    ]);
    expect(promptOf([asked('p1'), said('a1'), back(null), asked('p2')])).toEqual(['p2']);
  });

  it('has what an abandoned branch has, after a prompt that stands on its end', () => {
    const log = [asked('p1'), said('a1'), asked('p2'), said('a2'), back('a1'), asked('p3')];
    expect(promptOf([...log, asked('p4', { follows: 'a2' })])).toEqual(['p1', 'a1', 'p2', 'a2', 'p4']);
    expect(promptOf([...log, said('a9', { follows: 'a2' })])).toEqual(['p1', 'a1', 'p3']);
  });

  it('reads "taken back" where a call lost its result, and has the result where a branch is taken up again', () => {
    const log = [
      asked('p1'),
      called('c1', { messageId: 'm1' }),
      answered('r1', 'c1'),
      said('a1'),
      back('c1'),
    ];
    expect(promptOf([...log, asked('p2')])).toEqual(['p1', '', takenBackText, 'p2']);
    expect(promptOf([...log, asked('p2'), back('a1')])).toEqual(['p1', '', 'r1', 'a1']);
  });

  it('has an answer that it kept a part of without what only the whole answer can give back', () => {
    const log = [
      asked('p1'),
      said('t1', { messageId: 'm1' }),
      called('c1', { messageId: 'm1' }),
      inference('m1', { replay: { signed: 'of both' } }),
    ];
    expect(renderContext(log).messages[1]).toMatchObject({ replay: { signed: 'of both' } });
    const cut = renderContext([...log, back('t1')]).messages;
    expect(cut).toHaveLength(2);
    expect(cut[1]).toEqual({ role: 'assistant', text: 't1', toolCalls: [] });
    expect(renderContext([...log, back('c1')]).messages[1]).toMatchObject({ replay: { signed: 'of both' } });
  });

  it('keeps the order in which its model was given what arrived during a call', () => {
    const log = [
      asked('p1'),
      asked('late'),
      said('a1', { messageId: 'm1' }),
      inference('m1', { context: { through: 'p1' } }),
    ];
    expect(promptOf(log)).toEqual(['p1', 'a1', 'late']);
    expect(promptOf([...log, asked('p2'), back('a1')])).toEqual(['p1', 'a1', 'late']);
  });

  it('has no message that the engine took back, and an earlier prompt still has it', () => {
    const log = [
      asked('p1'),
      said('a1', { messageId: 'm1' }),
      inference('m1'),
      said('refused', { messageId: 'm2' }),
    ];
    const later = [asked('p2', { retracts: ['refused'] }), said('a2', { messageId: 'm3' }), inference('m3')];
    const between = [asked('p3'), said('a3', { messageId: 'm4' }), inference('m4')];
    expect(promptOf([...log, ...later])).toEqual(['p1', 'a1', 'p2', 'a2']);
    const calls = [...renderCalls([...log, ...between, ...later])].map(({ messages }) => texts(messages));
    expect(calls).toEqual([['p1'], ['p1', 'a1', 'refused', 'p3'], ['p1', 'a1', 'p3', 'a3', 'p2']]);
  });

  it('is that of its own branch for each answer of two programs that write at once', () => {
    const events = [
      asked('p0'),
      asked('one', { follows: 'p0' }),
      asked('two', { follows: 'p0' }),
      said('a-one', { follows: 'one', messageId: 'm1' }),
      inference('m1'),
      said('a-two', { messageId: 'm2' }),
      inference('m2'),
    ];
    expect([...renderCalls(events)].map(({ messages }) => texts(messages))).toEqual([
      ['p0', 'one'],
      ['p0', 'two'],
    ]);
  });

  it('forgets a compaction that it went back behind', () => {
    const compaction = event('session:compaction', { trigger: 'auto', summary: 'short' }, { id: 'k1' });
    const log = [asked('p1'), said('a1'), compaction, asked('p2')];
    expect(promptOf(log)).toEqual(['short', 'p2']);
    expect(promptOf([...log, back('a1'), asked('p3')])).toEqual(['p1', 'a1', 'p3']);
    expect(promptOf([...log, back('k1'), asked('p3')])).toEqual(['short', 'p3']);
  });
});

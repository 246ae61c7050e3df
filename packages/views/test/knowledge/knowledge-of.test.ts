import type { CapturedEvent, JsonObject } from '@hansard/events';
import { renderCalls } from '@hansard/prompt';
import { anyEvent, event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  causesOf,
  createLogIndex,
  dialogOf,
  effectsOf,
  hearingMatrix,
  knowledgeOf,
  knownBy,
  neverHeard,
  perspectiveOf,
  renderCauses,
  renderKnown,
  renderNeverHeard,
  renderPerspective,
  textOfItem,
} from '../../src/index.ts';
import { calls, created, heard, instructed, receives, says } from '../market-log.ts';

/** The model call of an answer; without a context, nothing is recorded of what it was given. */
function inferred(id: string, messageId: string, context?: JsonObject, agentId = 'ben'): CapturedEvent {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const data = { model: 'm', usage, ...(context === undefined ? {} : { context }) };
  return event('agent:inference', data, { id, agentId, messageId });
}

function observes(id: string, text: string, cause?: string): CapturedEvent {
  const links = cause === undefined ? {} : { cause };
  return event('agent:output', { parts: [{ kind: 'text', text }] }, { id, agentId: 'ben', ...links });
}

function compacts(id: string, summary: string, keptFrom?: string): CapturedEvent {
  const kept = keptFrom === undefined ? {} : { keptFrom };
  return event('session:compaction', { trigger: 'auto', summary, ...kept }, { id, agentId: 'ben' });
}

function given(events: readonly CapturedEvent[], messageId: string): string[] {
  const index = createLogIndex(events);
  const node = index.find(messageId);
  const answer = node === null ? null : knowledgeOf(index).answerOf(node);
  return (answer?.given ?? []).map((item) => `${item.kind}: ${textOfItem(item)}`);
}

const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

describe('what a model was given', () => {
  const log = [
    created('e1', 'ben', 'Ben'),
    instructed('e2', 'ben', 'You sell bread.'),
    heard('e3', 'ben', 'Good morning'),
    says('e4', 'ben', 'Morning!'),
    inferred('e5', 'e4', { through: 'e3' }),
    observes('e6', '3 loaves'),
    heard('e7', 'ben', 'What is there?'),
    compacts('e8', 'They greeted.', 'e7'),
    heard('e9', 'ben', 'Hello?'),
    says('e10', 'ben', 'Rye.'),
    inferred('e11', 'e10', { through: 'e8' }),
    says('e12', 'ben', 'Yes?'),
    inferred('e13', 'e12', { through: 'e11' }),
  ];

  it('has the summary of a compaction in place of the replaced messages, and no message that arrived during the call', () => {
    expect(given(log, 'e4')).toEqual(['system: You sell bread.', 'message: Good morning']);
    expect(given(log, 'e10')).toEqual([
      'system: You sell bread.',
      'summary: They greeted.',
      'message: What is there?',
    ]);
    expect(given(log, 'e12')).toEqual([
      'system: You sell bread.',
      'summary: They greeted.',
      'message: What is there?',
      'answer: Rye.',
      'message: Hello?',
    ]);
  });

  it('is the prompt that context rendering makes', () => {
    const prompts = [...renderCalls(log.map(withFullManifest))].map(({ messages }) =>
      messages.map(({ text }) => text),
    );
    expect(prompts).toEqual(
      ['e4', 'e10', 'e12'].map((id) => given(log, id).map((line) => line.slice(line.indexOf(' ') + 1))),
    );
  });

  it('stays known as what the agent had received, marked as replaced', () => {
    const index = createLogIndex(log);
    const rows = knownBy(index, 'ben', 'e10');
    expect(rows.map(({ id, kind, state, basis }) => [id, kind, state, basis])).toEqual([
      ['e2', 'heard', 'shown', 'recorded'],
      ['e3', 'heard', 'compacted', 'recorded'],
      ['e6', 'observed', 'compacted', 'recorded'],
      ['e7', 'heard', 'shown', 'recorded'],
      ['e8', 'summary', 'shown', 'recorded'],
    ]);
    expect(renderKnown(index, rows)).toContain('2  heard (replaced by a summary): Good morning');
  });

  it('includes observed values until the next action, with the call that made them', () => {
    const watching = [
      created('e1', 'ben', 'Ben'),
      heard('e2', 'ben', 'Look.'),
      calls('e3', 'ben', 'c1', 'look'),
      inferred('e4', 'e3', { through: 'e2' }),
      observes('e5', 'rye', 'e3'),
      observes('e6', 'spelt'),
      receives('e7', 'ben', 'c1', 'Done.'),
      calls('e8', 'ben', 'c2', 'look'),
      inferred('e9', 'e8', { through: 'e7' }),
      receives('e10', 'ben', 'c2', 'Done again.'),
      says('e11', 'ben', 'Rye.'),
      inferred('e12', 'e11', { through: 'e10' }),
    ];
    const index = createLogIndex(watching);
    expect(given(watching, 'e8')).toEqual([
      'message: Look.',
      'answer: ',
      'result: Done.',
      'output: rye',
      'output: spelt',
    ]);
    const states = knownBy(index, 'ben', 'e11').map(({ id, state }) => [id, state]);
    expect(states).toContainEqual(['e5', 'superseded']);
    expect(
      causesOf(index, 'e8')
        .at(-1)
        ?.because.map(({ kind, id }) => [kind, id]),
    ).toEqual([
      ['observed', 'e5'],
      ['observed', 'e6'],
      ['heard', 'e7'],
    ]);
    expect(renderKnown(index, knownBy(index, 'ben', 'e8'))).toContain(
      '4  observed: rye\n     tool returned it (2) → Ben observed it (4)\n5  observed: spelt\n',
    );
    expect(perspectiveOf(index, 'ben').map(({ kind, text }) => [kind, text])).toContainEqual([
      'observed',
      'spelt',
    ]);
  });

  it('does not include what the policy of the context left out', () => {
    const manifest = (through: string, first: string) => ({
      through,
      policy: { name: 'lastMessages', count: 1 },
      parts: [{ kind: 'messages', detail: 'high', messages: 1, first, last: first }],
    });
    const short = [
      created('e1', 'ben', 'Ben'),
      heard('e2', 'ben', 'One?'),
      heard('e3', 'ben', 'Two?'),
      says('e4', 'ben', 'Two.'),
      inferred('e5', 'e4', manifest('e3', 'e3')),
    ];
    const index = createLogIndex(short);
    expect(given(short, 'e4')).toEqual(['message: Two?']);
    expect(ids(causesOf(index, 'e4'))).toEqual(['e3', 'e4']);
    expect(ids(effectsOf(index, 'e2'))).toEqual(['e2']);
    expect(renderKnown(index, knownBy(index, 'ben', 'e4'))).toContain('1  heard (not in the prompt): One?');
  });

  it('reads a manifest that goes through an event without an agent, which is of the root', () => {
    const complete = anyEvent('session:complete', { status: 'completed' }, { id: 'e4' });
    const index = createLogIndex([
      created('e1', 'ben', 'Ben'),
      heard('e2', 'ben', 'One?'),
      complete,
      heard('e5', 'ben', 'Two?'),
      says('e6', 'ben', 'One.'),
      inferred('e7', 'e6', { through: 'e4' }),
    ]);
    expect(ids(perspectiveOf(index, 'ben'))).toEqual(['e2', 'e6', 'e5']);
  });
});

describe('why, after a compaction', () => {
  const index = createLogIndex([
    created('e1', 'ben', 'Ben'),
    heard('e2', 'ben', 'Good morning'),
    says('e3', 'ben', 'Morning!'),
    compacts('e4', 'They greeted.'),
    heard('e5', 'ben', 'What is there?'),
    says('e6', 'ben', 'Rye.'),
  ]);

  it('leads over the summary to what it replaced', () => {
    expect(causesOf(index, 'e6').map(({ id, because }) => [id, because.map(({ kind }) => kind)])).toEqual([
      ['e2', []],
      ['e4', ['replaces']],
      ['e5', []],
      ['e6', ['summary', 'heard']],
    ]);
  });

  it('is marked as reconstructed if no call records what it was given', () => {
    expect(causesOf(index, 'e6').map(({ basis }) => basis)).toEqual([null, null, null, 'reconstructed']);
    expect(renderCauses(index, causesOf(index, 'e6'))).toContain(
      '    ← summary 3 (reconstructed), heard 4 (reconstructed)',
    );
    expect(knownBy(index, 'ben', 'e6').map(({ id, state, basis }) => [id, state, basis])).toEqual([
      ['e2', 'compacted', 'reconstructed'],
      ['e4', 'shown', 'reconstructed'],
      ['e5', 'shown', 'reconstructed'],
    ]);
    const rows = perspectiveOf(index, 'ben');
    expect(rows.map(({ kind, basis }) => [kind, basis])).toEqual([
      ['heard', 'reconstructed'],
      ['said', 'reconstructed'],
      ['summary', 'reconstructed'],
      ['heard', 'reconstructed'],
      ['said', 'reconstructed'],
    ]);
    expect(renderPerspective(index, rows).split('\n')[0]).toMatch(/^\(reconstructed: /);
  });
});

describe('an answer that a tool asked for', () => {
  const log = (links: { readonly cause?: string }) =>
    createLogIndex([
      created('e1', 'olga', 'Olga'),
      calls('e2', 'olga', 'c1', 'task'),
      created('e3', 'ben', 'Ben', { cause: 'e2' }),
      calls('e4', 'olga', 'c2', 'talk'),
      heard('e5', 'ben', 'Begin.', { from: 'olga', cause: 'e4' }),
      says('e6', 'ben', 'Rye.', links),
      inferred('e7', 'e6', { through: 'e5' }),
    ]);

  it('has the call as a cause beside what its model was given, if the log has it', () => {
    const [answer] = causesOf(log({ cause: 'e4' }), 'e6').slice(-1);
    expect(answer?.because.map(({ kind, id }) => [kind, id])).toEqual([
      ['cause', 'e4'],
      ['heard', 'e5'],
    ]);
    expect(answer?.asked).toBe('recorded');
  });

  it('is reported as not recorded otherwise', () => {
    const index = log({});
    expect(causesOf(index, 'e6').at(-1)?.asked).toBe('not recorded');
    expect(renderCauses(index, causesOf(index, 'e6'))).toContain('    ← heard 4, asked by: not recorded');
  });
});

describe('who never heard something', () => {
  it('is not known of agents whose engine does not record what they are given', () => {
    const index = createLogIndex([
      anyEvent('agent:text', { text: 'I will ask.' }, { id: 'e1', messageId: 'e1' }),
      anyEvent('agent:tool_call', { toolCallId: 'c1', tool: 'Agent', metadata: {} }, { id: 'e2' }),
      created('e3', 'helper', 'Helper', { cause: 'e2' }),
      event(
        'user:message',
        { text: 'Count.', source: { kind: 'agent' } },
        { id: 'e4', agentId: 'helper', cause: 'e2' },
      ),
      says('e5', 'helper', 'Three.'),
      event(
        'agent:tool_result',
        { toolCallId: 'c1', tool: 'Agent', status: 'completed', output: 'It says Three.', metadata: {} },
        { id: 'e6' },
      ),
      created('e7', 'other', 'Other', { cause: 'e2' }),
    ]);
    expect(neverHeard(index, 'e5').map(({ agent, answer }) => [agent.agentId, answer])).toEqual([
      ['', 'not known'],
      ['other', 'not known'],
    ]);
    expect(renderNeverHeard(neverHeard(index, 'e5'))).toBe('dispatched agent (not known)\nOther (not known)');
    // The dispatched agent is the author of the prompt.
    const prompt = hearingMatrix(index).rows.find(({ saying }) => saying.id === 'e4');
    expect(prompt?.cells.get('')).toEqual(['said']);
    expect(dialogOf(index, ['', 'helper']).map(({ id }) => id)).toContain('e4');
    expect(neverHeard(index, 'e4').map(({ agent }) => agent.agentId)).toEqual(['other']);
  });

  it('is known of all agents in a session that records what they are given', () => {
    const index = createLogIndex([
      created('e1', 'ben', 'Ben'),
      created('e2', 'ann', 'Ann'),
      heard('e3', 'ben', 'One?'),
      says('e4', 'ben', 'One.'),
      inferred('e5', 'e4', { through: 'e3' }),
    ]);
    expect(neverHeard(index, 'e4').map(({ agent, answer }) => [agent.agentId, answer])).toEqual([
      ['ann', 'never'],
    ]);
  });
});

describe('the prompts of an imported dispatch with sub-agents', () => {
  it('are those of the dispatched agent, apart from those of its sub-agents', () => {
    const asked = (id: string, text: string) =>
      event('user:message', { text, source: { kind: 'user' } }, { id, messageId: id });
    const log = [
      asked('e1', 'Count.'),
      event('agent:tool_call', { toolCallId: 'c1', tool: 'Agent', metadata: {} }, { id: 'e2' }),
      created('e3', 'ben', 'Ben', { cause: 'e2' }),
      heard('e4', 'ben', 'Count the loaves.', { cause: 'e2' }),
      says('e5', 'ben', 'Three.'),
      inferred('e6', 'e5'),
    ];
    expect(
      [...renderCalls(log)].map(({ agentId, messages }) => [agentId, messages.map(({ text }) => text)]),
    ).toEqual([['ben', ['Count the loaves.']]]);
  });
});

/** A manifest as sessions write it, of which `renderCalls` needs more than views of knowledge do. */
function withFullManifest(captured: CapturedEvent): CapturedEvent {
  const { context } = captured.data;
  if (captured.type !== 'agent:inference' || context === undefined) return captured;
  const manifest = {
    rendererVersion: 1,
    policy: { name: 'full' },
    messages: 0,
    tokens: null,
    parts: [],
    omitted: {},
    prefix: { messages: 0, share: 0, hash: '' },
    hash: '',
    ...(context as JsonObject),
  };
  return { ...captured, data: { ...captured.data, context: manifest } };
}

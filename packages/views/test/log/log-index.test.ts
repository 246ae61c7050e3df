import { anyEvent } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { agentNamed, agentsNamed, createLogIndex, findEvent, rowsOf, speakerLabel } from '../../src/index.ts';
import { renderDiagnostics } from '../../src/log/diagnostic.ts';
import { speakerIdOf } from '../../src/log/saying.ts';
import { calls, created, decides, heard, marketLog, piece, says, thinks } from '../market-log.ts';

describe('createLogIndex', () => {
  it('has no diagnostics for a correct log', () => {
    expect(createLogIndex(marketLog()).diagnostics).toEqual([]);
  });

  it('reports a reference of each kind to an event that is not in the log', () => {
    const { diagnostics } = createLogIndex([
      created('e1', 'ben', 'Ben', { cause: 'gone-1' }),
      heard('e2', 'ben', 'Hi', { substance: 'gone-2', via: 'gone-3' }),
      decides('e3', 'ben', { hook: 'h', on: 'delivery', decision: 'deny', subject: 'gone-4' }),
    ]);
    expect(diagnostics.map(({ code, eventId }) => [code, eventId])).toEqual([
      ['reference_lost', 'e1'],
      ['reference_lost', 'e2'],
      ['reference_lost', 'e2'],
      ['reference_lost', 'e3'],
    ]);
    expect(renderDiagnostics(diagnostics)).toContain(
      'The substance of e2 is gone-2, which is not in this log.',
    );
  });

  it('reports a cause that is later than its effect, and an event that caused itself', () => {
    const { diagnostics } = createLogIndex([
      created('e1', 'ben'),
      piece('e2', 'ben', 'Fresh bread', 'e3'),
      calls('e3', 'ben', 'c1', 'talk'),
      piece('e4', 'ben', 'Fresher bread', 'e4'),
    ]);
    expect(diagnostics.map(({ code, eventId }) => [code, eventId])).toEqual([
      ['reference_ahead', 'e2'],
      ['reference_ahead', 'e4'],
    ]);
  });

  it('reports agents that were never created or created twice, and names of several agents', () => {
    const { diagnostics, agents } = createLogIndex([
      created('e1', 'ben', 'Baker'),
      created('e2', 'bea', 'Baker'),
      created('e3', 'ben', 'Brewer'),
      says('e4', 'ghost', 'Boo'),
      says('e5', 'ghost', 'Boo again'),
    ]);
    expect(diagnostics.map(({ code, eventId }) => [code, eventId])).toEqual([
      ['agent_created_twice', 'e3'],
      ['agent_not_created', 'e4'],
      ['agent_name_shared', 'e2'],
    ]);
    expect([...agents.values()].map(({ label }) => label)).toEqual(['Baker ben', 'Baker bea', 'ghost']);
  });

  it('reports unreadable events and repeated ids, and indexes the rest', () => {
    const index = createLogIndex([
      created('e1', 'ben', 'Ben'),
      anyEvent('agent:text', { spans: [] }, { id: 'e2', agentId: 'ben', v: 2 }),
      anyEvent('agent:piece_of_text', { body: 'Hi' }, { id: 'e3', agentId: 'ben', v: 2 }),
      says('e4', 'ben', 'Hello'),
      says('e4', 'ben', 'Hello again'),
    ]);
    expect(index.diagnostics.map(({ code, eventId }) => [code, eventId])).toEqual([
      ['event_unreadable', 'e2'],
      ['event_unreadable', 'e3'],
      ['id_repeated', 'e4'],
    ]);
    expect(index.sayings[0]?.text).toContain('Hello');
  });

  it('takes the id of a message for its text or its first call, and any other id for that event', () => {
    const index = createLogIndex([
      thinks('m1', 'ben', 'Hm.'),
      says('m1.1', 'ben', 'Good morning', { messageId: 'm1' }),
      says('x2', 'ben', 'Let me look.', { messageId: 'm2' }),
      calls('x2.1', 'ben', 'c1', 'look', {}, { messageId: 'm2' }),
      calls('x2.2', 'ben', 'c2', 'look', {}, { messageId: 'm2' }),
    ]);
    const found = ['m1', 'm1.1', 'm2', 'x2', 'x2.2'].map((id) => findEvent(index, id)?.id);
    expect(found).toEqual(['m1.1', 'm1.1', 'x2.1', 'x2', 'x2.2']);
    expect(findEvent(index, 'm3')).toBeNull();
  });

  it.each([
    ['the agent with the name that the source has', { kind: 'agent', name: 'Ann' }, 'Ann', 'ann'],
    ['nobody known, if several have the name', { kind: 'agent', name: 'Twin' }, 'Twin', null],
    ['nobody known, if none has the name', { kind: 'agent', name: 'Zoe' }, 'Zoe', null],
    ['the agent that created the receiver, if the source has no name', { kind: 'agent' }, 'Ann', 'ann'],
    ['a person, whatever name it has', { kind: 'user', name: 'Ann' }, 'user', null],
  ] as const)('takes for the sender of a message %s', (_, source, label, agentId) => {
    const log = [
      created('e1', 'ann', 'Ann'),
      created('e2', 't1', 'Twin'),
      created('e3', 't2', 'Twin'),
      calls('e4', 'ann', 'c1', 'spawn'),
      created('e5', 'ben', 'Ben', { cause: 'e4' }),
      anyEvent('user:message', { text: 'Hi', source }, { id: 'e6', agentId: 'ben' }),
    ];
    const index = createLogIndex(log);
    const [saying] = index.sayings;
    expect(
      saying === undefined ? null : [speakerLabel(index, saying.speaker), speakerIdOf(saying.speaker)],
    ).toEqual([label, agentId]);
    const { from } = rowsOf(log).at(-1) ?? {};
    expect(from?.kind === 'agent' ? from.name : from?.kind).toBe(label);
    expect(index.events).toEqual(log);
  });

  it('looks up the message, the call, the substance, the saying and the hearing of an event', () => {
    const index = createLogIndex(marketLog());
    const node = (id: string) => index.find(id) ?? expect.fail(`${id} is not in the log`);
    expect(index.messageOf(node('e3.2'))?.blocks.map(({ event }) => event.id)).toEqual([
      'e3',
      'e3.1',
      'e3.2',
      'e3.3',
      'e3.4',
    ]);
    expect(index.callOf(node('e8'))).toBe(node('e3.3'));
    expect(index.substanceOf(node('e26'))).toBe(node('e25'));
    expect(index.sayingOf(node('e17'))).toMatchObject({ id: 'e15', speaker: { agentId: 'ben' } });
    expect(index.hearingOf(node('e17'))).toMatchObject({ agentId: 'ann', how: 'altered', via: 'e16' });
    const none = [index.messageOf, index.callOf, index.substanceOf, index.sayingOf, index.hearingOf];
    expect(none.map((lookUp) => lookUp(node('e1')))).toEqual([null, null, null, null, null]);
  });

  it('finds the first event with a repeated id, and has the position of each event', () => {
    const events = [says('e1', 'ben', 'One'), says('e2', 'ben', 'Two'), says('e1', 'ben', 'Three')];
    const index = createLogIndex(events);
    expect(index.eventWithId('e1')?.position).toBe(0);
    expect(index.nodes.map(({ event, position }) => events[position] === event)).toEqual([true, true, true]);
    expect(index.diagnostics.map(({ code }) => code)).toContain('id_repeated');
  });

  it('neutralises the text of a diagnostic', () => {
    const { diagnostics } = createLogIndex([
      created('e1', 'a', '\u001b[2J'),
      created('e2', 'b', '\u001b[2J'),
    ]);
    expect(renderDiagnostics(diagnostics)).toBe('2 agents are named ␛[2J: a, b.');
  });
});

describe('agentNamed', () => {
  const index = createLogIndex([
    created('e1', 'ann', 'Ben'),
    created('e2', 'a2', 'ann'),
    created('e3', 'a3', 'Carl'),
    created('e4', 'a4', 'Carl'),
  ]);

  it('prefers an id to a name, and an exact name to one that ignores case', () => {
    expect(agentNamed(index, 'ann').agentId).toBe('ann');
    expect(agentNamed(index, 'BEN').agentId).toBe('ann');
    expect(agentNamed(index, 'Ann').agentId).toBe('a2');
  });

  it('takes the label that a view shows for an agent, including one without a name', () => {
    expect(agentNamed(index, 'Carl a4').agentId).toBe('a4');
    const nameless = createLogIndex([says('e1', 'owl', 'Hoo'), anyEvent('agent:text', { text: 'Hi' })]);
    expect(agentNamed(nameless, 'OWL').agentId).toBe('owl');
    expect(agentNamed(nameless, 'dispatched agent').agentId).toBe('');
  });

  it('names the agents of the log, or those that share the name, in the error', () => {
    expect(() => agentNamed(index, 'Zoe')).toThrow(/named Zoe; it has Ben, ann, Carl a3, Carl a4/);
    expect(() => agentNamed(index, 'carl')).toThrow(/by its id: a3, a4/);
    expect(agentsNamed(index, 'carl')).toHaveLength(2);
  });
});

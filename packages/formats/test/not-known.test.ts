import type { JsonObject } from '@hansard/events';
import { exampleText, isCorpusThere, skipped } from '@hansard/testing';
import {
  audienceOf,
  createLogIndex,
  dialogOf,
  type LogIndex,
  neverHeard,
  type Row,
  renderDialog,
  renderNeverHeard,
  rowsOf,
} from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { sessionFormats } from '../src/index.ts';
import { call, logOf } from './make.ts';

/**
 * A line for each saying and agent that has no delivery of it: the answer of `heard --never`, then the words of the audience, the
 * dialog and the row about an agent that was present. `-`: none.
 */
function negatives(index: LogIndex): string[] {
  // A row that nobody received does not say who did not.
  const rows = rowsOf(index.events);
  return index.sayings.flatMap((saying) => {
    const row = rows.find(({ events, heard }) => heard !== undefined && events.includes(saying.position));
    const dialog = dialogOf(index).find(({ id }) => id === saying.id);
    return neverHeard(index, saying.id).map(({ agent: { agentId }, answer }) => {
      const ids = (agents: Row['missing'] = []) => agents.map((agent) => agent.agentId);
      const ofRow = row === undefined ? [] : [{ missing: ids(row.missing), notKnown: ids(row.notKnown) }];
      const words = [audienceOf(index, saying), dialog, ...ofRow].map((of) => {
        if (of?.missing?.includes(agentId) === true) return 'not heard';
        return of?.notKnown?.includes(agentId) === true ? 'not known' : '-';
      });
      return [`${saying.id} ${agentId}: ${answer}`, ...new Set(words)].join(', ');
    });
  });
}

const indexOf = (format: keyof typeof sessionFormats, text: string) =>
  createLogIndex(sessionFormats[format].read(text).events);

const made = (agent_id: string, name?: string, cause?: JsonObject): JsonObject => ({
  event_type: 'agent_created',
  agent_id,
  ...(name === undefined ? {} : { name }),
  ...cause,
});
const entry = (agent_id: string, role: string, content: string, more: JsonObject = {}): JsonObject => ({
  event_type: 'transcript_entry',
  agent_id,
  role,
  content,
  ...more,
});
const called = (agent_id: string, id: string, name: string): JsonObject => ({
  event_type: 'transcript_entry',
  agent_id,
  role: 'assistant',
  tool_calls: [call(id, name, {})],
});
const numbered = (records: readonly JsonObject[]): string =>
  logOf(...records.map((record, at) => ({ message_id: `m${at + 1}`, ...record })));

/** A host lets two guests meet. It gets what they say as results of its call, without a link. */
const meeting = numbered([
  made('host'),
  entry('host', 'user', 'Let them meet.'),
  called('host', 'c1', 'task'),
  made('ute', 'Ute', { cause: 'm3' }),
  made('vic', 'Vic', { cause: 'm3' }),
  called('host', 'c2', 'meet'),
  { event_type: 'piece_of_text', agent_id: 'host', content: 'Say your names.', cause: 'm6' },
  entry('ute', 'user', 'Say your names.', { substance: 'm7' }),
  entry('vic', 'user', 'Say your names.', { substance: 'm7' }),
  entry('ute', 'assistant', 'I am Ute.'),
  entry('host', 'tool', 'I am Ute.', { tool_call_id: 'c2' }),
  entry('vic', 'user', '[Ute]: I am Ute.', { substance: 'm10' }),
  entry('vic', 'assistant', 'And I am Vic.'),
]);

/** The same in the older dialect, which links results. */
const linkedMeeting = numbered([
  made('host'),
  { agent_id: 'host', role: 'user', content: 'Let them meet.', source: 'external' },
  { agent_id: 'host', role: 'assistant', tool_calls: [call('c1', 'meet', {})], caused_by: 'm2' },
  made('ute', 'Ute', { caused_by: 'm3' }),
  made('vic', 'Vic', { caused_by: 'm3' }),
  { agent_id: 'ute', role: 'user', content: 'Say your names.', source: 'host', caused_by: 'm3' },
  { agent_id: 'ute', role: 'assistant', content: 'I am Ute.', caused_by: 'm6' },
  {
    agent_id: 'host',
    role: 'tool',
    tool_call_id: 'c1',
    content: 'I am Ute.',
    utterance_ref: 'm7',
    caused_by: 'm7',
  },
]);

/** An agent asks its inner voice, and gets the answer as a result without a link. */
const innerVoice = numbered([
  called('vic', 'c1', 'task'),
  made('voice', 'Voice', { cause: 'm1' }),
  entry('vic', 'user', '[Ute]: I am Ute.', { substance: 'before' }),
  called('vic', 'c2', 'ask'),
  { event_type: 'piece_of_text', agent_id: 'vic', content: 'What do I say?', cause: 'm4' },
  entry('voice', 'user', 'What do I say?', { substance: 'm5' }),
  entry('voice', 'assistant', 'Your name.'),
  entry('vic', 'tool', 'Your name.', { tool_call_id: 'c2' }),
  entry('vic', 'assistant', 'I am Vic.'),
]);

/** A log without any link. */
const unlinked = numbered([
  called('host', 'c1', 'task'),
  made('guard', 'Guard', { cause: 'm1' }),
  called('host', 'c2', 'task'),
  entry('guard', 'user', 'May host create another?'),
  entry('guard', 'assistant', 'No.'),
  entry('host', 'tool', 'Error: Guard says no.', { tool_call_id: 'c2' }),
]);

describe('what a session log does not record', () => {
  it.each<[string, keyof typeof sessionFormats, string, readonly string[]]>([
    [
      'results without links: not known of their agent alone',
      'session-v2',
      meeting,
      [
        'm2 ute: never, -',
        'm2 vic: never, -',
        'm10 host: not known, not known',
        'm13 ute: never, not heard',
        'm13 host: never, not heard',
      ],
    ],
    [
      'results with links: all is known',
      'session-v1',
      linkedMeeting,
      ['m2 ute: never, -', 'm2 vic: never, -', 'm6:text vic: never, not heard', 'm7 vic: never, not heard'],
    ],
    [
      'the answer of an inner voice',
      'session-v2',
      innerVoice,
      ['m3 voice: never, not heard', 'm7 vic: not known, not known', 'm9 voice: never, not heard'],
    ],
    [
      'no link at all: nothing is known',
      'session-v2',
      unlinked,
      ['m4 host: not known, not known', 'm5 host: not known, not known'],
    ],
  ])('%s', (_, format, text, expected) => {
    expect(negatives(indexOf(format, text)).toSorted()).toEqual(expected.toSorted());
  });

  it('is shown as not known, with equal words as a suggestion, and left out of a dialog', () => {
    const index = indexOf('session-v2', innerVoice);
    expect(renderNeverHeard(neverHeard(index, 'm7'))).toBe(
      'vic (not known; perhaps by m8, which has the same words)',
    );
    expect(renderDialog(index, dialogOf(index))).not.toContain('not heard by vic');
    const said = dialogOf(index).find(({ id }) => id === 'm7');
    expect(said).toMatchObject({ missing: [], notKnown: ['vic'], isPublic: null });
  });

  const examples: Readonly<Record<'session-v1' | 'session-v2', readonly (readonly string[])[]>> = {
    'session-v1': [
      ['msg_002 agent_jack: never, -', 'msg_002 agent_jill: never, -'],
      ['msg_023 agent_jill_inner: never, not heard', 'msg_028 agent_jill_inner: never, not heard'],
      ['msg_103 agent_root: not known, not known', 'msg_104 agent_root: not known, not known'],
      [],
    ],
    'session-v2': [
      [
        'msg_002 agent_jack: never, -',
        'msg_002 agent_jill: never, -',
        'msg_015 agent_root: not known, not known',
        'msg_018 agent_root: not known, not known',
      ],
      [
        'msg_033 agent_jill_inner: never, not heard',
        'msg_037 agent_jill: not known, not known',
        'msg_039 agent_jill_inner: never, not heard',
      ],
      ['msg_103 agent_root: not known, not known', 'msg_104 agent_root: not known, not known'],
      [],
    ],
  };

  it.skipIf(!isCorpusThere)(`of the examples of both specifications: every negative${skipped}`, () => {
    for (const [format, tables] of Object.entries(examples) as ['session-v1' | 'session-v2', string[][]][])
      for (const [at, expected] of tables.entries())
        expect(negatives(indexOf(format, exampleText(format, String(at + 1))))).toEqual(expected);
  });
});

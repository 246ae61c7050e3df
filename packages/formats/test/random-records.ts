import type { JsonObject, JsonValue } from '@hansard/events';
import type { SessionFormatId } from '../src/index.ts';
import { call } from './make.ts';

/** The form of a dialect's records. */
export interface RecordShape {
  readonly entryType: string | undefined;
  readonly substanceKey: string;
  readonly causeKey: string;
  readonly hasSource: boolean;
}

export const recordShapes: Readonly<Record<SessionFormatId, RecordShape>> = {
  'session-v1': {
    entryType: undefined,
    substanceKey: 'utterance_ref',
    causeKey: 'caused_by',
    hasSource: true,
  },
  'session-v2': {
    entryType: 'transcript_entry',
    substanceKey: 'substance',
    causeKey: 'cause',
    hasSource: false,
  },
};

/** A log of records, most of them valid and some malformed. */
export function randomRecords(random: () => number, shape: RecordShape): JsonObject[] {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const perhaps = (chance: number, fields: () => JsonObject): JsonObject =>
    random() < chance ? fields() : {};
  const id = (): JsonValue =>
    random() < 0.92 ? `r${Math.floor(random() * 30)}` : pick([7, '', 'r 1/2', 'r3.1', 'x'.repeat(128), null]);
  const agent = (): JsonValue =>
    random() < 0.95 ? `agent_00${Math.floor(random() * 4)}` : pick(['A B', 3, null]);
  const text = (): JsonValue =>
    pick([
      '',
      'Hello',
      'Error: no',
      "Error: Action blocked by hook 'Guard': full",
      '\u0000\u2028🙂\ud800',
      'a\nb',
    ]);
  const value = (): JsonValue =>
    pick<JsonValue>([
      null,
      true,
      0.5,
      'x',
      [],
      [1, { a: null }],
      JSON.parse('{"__proto__": {"deep/~": [1]}}'),
    ]);
  const content = (): JsonObject =>
    perhaps(0.9, () => ({
      content:
        random() < 0.85 ? text() : pick<JsonValue>([null, 5, [{ type: 'text', text: 'part' }, { image: 1 }]]),
    }));
  const list = (make: () => JsonValue, longest: number): JsonValue[] =>
    Array.from({ length: Math.floor(random() * (longest + 1)) }, make);
  const toolCall = (): JsonValue =>
    random() < 0.1
      ? pick<JsonValue>([null, {}, { id: 'c1' }, { id: 4, function: { name: '', arguments: {} } }])
      : {
          id: `c${Math.floor(random() * 5)}`,
          ...perhaps(0.5, () => ({ type: 'function' })),
          function: {
            name: pick(['task', 'discuss']),
            arguments: pick(['{"a":1}', '{"a": 1}', '"text"', 'not json', '', '1e999', '['.repeat(3000)]),
          },
        };
  const foreignKeys = ['utterance_ref', 'caused_by', 'source', 'substance', 'cause', 'event_type'];
  const links = (): JsonObject => ({
    ...perhaps(0.4, () => ({ [shape.substanceKey]: random() < 0.93 ? id() : list(id, 2) })),
    ...perhaps(0.4, () => ({ [shape.causeKey]: random() < 0.7 ? id() : list(id, 3) })),
    ...perhaps(0.05, () => ({ cause_tool_call_id: `c${Math.floor(random() * 5)}` })),
  });
  const entry = (): JsonObject => ({
    ...(shape.entryType === undefined ? {} : { event_type: shape.entryType }),
    role: pick(['system', 'user', 'assistant', 'tool']),
    ...content(),
    ...perhaps(0.4, () => ({ tool_calls: random() < 0.95 ? list(toolCall, 3) : value() })),
    ...perhaps(0.4, () => ({ tool_call_id: `c${Math.floor(random() * 5)}` })),
    ...perhaps(0.05, () => ({ [pick(foreignKeys)]: id() })),
    ...perhaps(0.2, () => ({ name: pick<JsonValue>(['task', '', null]) })),
    ...(shape.hasSource
      ? perhaps(0.7, () => ({ source: pick<JsonValue>(['external', 'system', 'agent_001', 'A B', null]) }))
      : {}),
  });
  const created = (): JsonObject => ({
    event_type: 'agent_created',
    ...perhaps(0.6, () => ({ name: pick<JsonValue>(['Guard', 'Mona', null]) })),
    ...perhaps(0.6, () => ({ language_model: pick<JsonValue>(['test/small', null]) })),
  });
  const piece = (): JsonObject => ({ event_type: 'piece_of_text', ...content() });
  const unknown = (): JsonObject => ({
    event_type: pick<JsonValue>(['mood', 'Größe!', 4, {}, null]),
    record: value(),
  });

  const record = (): JsonObject => ({
    ...perhaps(0.97, () => ({ message_id: id() })),
    ...perhaps(0.97, () => ({ agent_id: agent() })),
    ...pick([entry, entry, entry, entry, created, piece, unknown])(),
    ...links(),
    ...perhaps(0.1, () => ({ extra: value(), 'a/b~c': value() })),
  });
  return [
    { ...entry(), role: 'user', message_id: 'start', agent_id: 'agent_000' },
    ...Array.from({ length: 40 }, record),
  ];
}

/** A log in which each record but the first ten names one of these, a message with one to four calls, as its cause. */
export function recordsWithCalls(random: () => number, { entryType, causeKey }: RecordShape): JsonObject[] {
  const whole = (below: number): number => Math.floor(random() * below);
  const entry = (fields: JsonObject): JsonObject => ({
    ...(entryType === undefined ? {} : { event_type: entryType }),
    agent_id: `agent_${whole(3)}`,
    ...fields,
  });
  const callers = Array.from({ length: 10 }, (_, index) =>
    entry({
      message_id: `m${index}`,
      role: 'assistant',
      ...(random() < 0.5 ? { content: 'So be it.' } : {}),
      tool_calls: Array.from({ length: 1 + whole(4) }, (_, number) => call(`c${number}`, 'task', {})),
    }),
  );
  const caused = Array.from({ length: 30 }, (_, index) => {
    const fields = {
      message_id: `r${index}`,
      [causeKey]: `m${whole(10)}`,
      ...(random() < 0.3 ? { cause_tool_call_id: `c${whole(5)}` } : {}),
    };
    if (random() < 0.2) return { event_type: 'agent_created', agent_id: `agent_${whole(9)}`, ...fields };
    const role = random() < 0.6 ? 'tool' : 'user';
    const answered = role === 'tool' ? { tool_call_id: `c${whole(5)}` } : {};
    return entry({ role, content: 'yes', ...answered, ...fields });
  });
  return [...callers, ...caused];
}

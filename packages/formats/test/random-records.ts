import type { JsonObject, JsonValue } from '@hansard/events';
import { call } from './make.ts';

/** The form of a dialect's records. */
export interface RecordShape {
  readonly entryType: string | undefined;
  readonly substanceKey: string;
  readonly causeKey: string;
  readonly hasSource: boolean;
}

export const recordShapes: Readonly<Record<'session-v1' | 'session-v2', RecordShape>> = {
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

const foreignKeys = ['utterance_ref', 'caused_by', 'source', 'substance', 'cause', 'event_type'];

/** A log of records, most of them valid and some malformed. */
export function randomRecords(random: () => number, shape: RecordShape): JsonObject[] {
  return new RandomRecords(random, shape).make();
}

class RandomRecords {
  readonly #random: () => number;
  readonly #shape: RecordShape;

  constructor(random: () => number, shape: RecordShape) {
    this.#random = random;
    this.#shape = shape;
  }

  make(): JsonObject[] {
    return [
      { ...this.#entry(), role: 'user', message_id: 'start', agent_id: 'agent_000' },
      ...Array.from({ length: 40 }, () => this.#record()),
    ];
  }

  #record(): JsonObject {
    const entry = () => this.#entry();
    const kinds = [
      entry,
      entry,
      entry,
      entry,
      () => this.#created(),
      () => this.#piece(),
      () => this.#unknown(),
    ];
    return {
      ...this.#perhaps(0.97, () => ({ message_id: this.#id() })),
      ...this.#perhaps(0.97, () => ({ agent_id: this.#agent() })),
      ...this.#pick(kinds)(),
      ...this.#links(),
      ...this.#perhaps(0.1, () => ({ extra: this.#value(), 'a/b~c': this.#value() })),
    };
  }

  #entry(): JsonObject {
    return {
      ...(this.#shape.entryType === undefined ? {} : { event_type: this.#shape.entryType }),
      role: this.#pick(['system', 'user', 'assistant', 'tool']),
      ...this.#content(),
      ...this.#perhaps(0.4, () => ({
        tool_calls: this.#random() < 0.95 ? this.#list(() => this.#toolCall(), 3) : this.#value(),
      })),
      ...this.#perhaps(0.4, () => ({ tool_call_id: `c${Math.floor(this.#random() * 5)}` })),
      ...this.#perhaps(0.05, () => ({ [this.#pick(foreignKeys)]: this.#id() })),
      ...this.#perhaps(0.2, () => ({ name: this.#pick<JsonValue>(['task', '', null]) })),
      ...(this.#shape.hasSource
        ? this.#perhaps(0.7, () => ({
            source: this.#pick<JsonValue>(['external', 'system', 'agent_001', 'A B', null]),
          }))
        : {}),
    };
  }

  #created(): JsonObject {
    return {
      event_type: 'agent_created',
      ...this.#perhaps(0.6, () => ({ name: this.#pick<JsonValue>(['Guard', 'Mona', null]) })),
      ...this.#perhaps(0.6, () => ({ language_model: this.#pick<JsonValue>(['test/small', null]) })),
    };
  }

  #piece(): JsonObject {
    return { event_type: 'piece_of_text', ...this.#content() };
  }

  #unknown(): JsonObject {
    return {
      event_type: this.#pick<JsonValue>(['mood', 'Größe!', 4, {}, null]),
      record: this.#value(),
    };
  }

  #links(): JsonObject {
    return {
      ...this.#perhaps(0.4, () => ({
        [this.#shape.substanceKey]: this.#random() < 0.93 ? this.#id() : this.#list(() => this.#id(), 2),
      })),
      ...this.#perhaps(0.4, () => ({
        [this.#shape.causeKey]: this.#random() < 0.7 ? this.#id() : this.#list(() => this.#id(), 3),
      })),
      ...this.#perhaps(0.05, () => ({ cause_tool_call_id: `c${Math.floor(this.#random() * 5)}` })),
    };
  }

  #toolCall(): JsonValue {
    return this.#random() < 0.1
      ? this.#pick<JsonValue>([null, {}, { id: 'c1' }, { id: 4, function: { name: '', arguments: {} } }])
      : {
          id: `c${Math.floor(this.#random() * 5)}`,
          ...this.#perhaps(0.5, () => ({ type: 'function' })),
          function: {
            name: this.#pick(['task', 'discuss']),
            arguments: this.#pick([
              '{"a":1}',
              '{"a": 1}',
              '"text"',
              'not json',
              '',
              '1e999',
              '['.repeat(3000),
            ]),
          },
        };
  }

  #content(): JsonObject {
    return this.#perhaps(0.9, () => ({
      content:
        this.#random() < 0.85
          ? this.#text()
          : this.#pick<JsonValue>([null, 5, [{ type: 'text', text: 'part' }, { image: 1 }]]),
    }));
  }

  #id(): JsonValue {
    return this.#random() < 0.92
      ? `r${Math.floor(this.#random() * 30)}`
      : this.#pick([7, '', 'r 1/2', 'r3.1', 'x'.repeat(128), null]);
  }

  #agent(): JsonValue {
    return this.#random() < 0.95 ? `agent_00${Math.floor(this.#random() * 4)}` : this.#pick(['A B', 3, null]);
  }

  #text(): JsonValue {
    return this.#pick([
      '',
      'Hello',
      'Error: no',
      "Error: Action blocked by hook 'Guard': full",
      '\u0000\u2028🙂\ud800',
      'a\nb',
    ]);
  }

  #value(): JsonValue {
    return this.#pick<JsonValue>([
      null,
      true,
      0.5,
      'x',
      [],
      [1, { a: null }],
      JSON.parse('{"__proto__": {"deep/~": [1]}}'),
    ]);
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  #perhaps(chance: number, fields: () => JsonObject): JsonObject {
    return this.#random() < chance ? fields() : {};
  }

  #list(make: () => JsonValue, longest: number): JsonValue[] {
    return Array.from({ length: Math.floor(this.#random() * (longest + 1)) }, make);
  }
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

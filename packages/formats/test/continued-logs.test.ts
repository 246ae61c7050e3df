import { type CapturedEvent, createIdSource, type NewEvent, newEvent } from '@hansard/events';
import { takeApart } from '@hansard/prompt';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { sessionFormats } from '../src/index.ts';
import { bookClubV1, bookClubV2, logOf, now, recordsIn } from './make.ts';

/** What an export must have for one thing that was added, written down while it is added. */
interface Expected {
  readonly message_id: string;
  readonly agent_id: string;
  readonly content?: string;
  readonly link?: string;
}

/** Adds random messages, answers, agents and texts to a log, as a session does, and says what each must be called. */
class ContinuedLog {
  readonly expected: (Expected & { readonly isPiece: boolean })[] = [];
  readonly #events: NewEvent[] = [];
  readonly #agents = ['agent_root'];
  /** Ids of utterances, and what they must be called. */
  readonly #said: [id: string, name: string][];
  readonly #steps = [
    () => this.#hear(),
    () => this.#answer(),
    () => this.#createAgent(),
    () => this.#addText(),
    () => void this.#events.push(newEvent('session:complete', { status: 'completed' }, { id: this.#id() })),
  ];
  readonly #random: () => number;
  readonly #utterance: string;
  readonly #id: () => string;
  #time = now();
  #number: number;

  constructor(random: () => number, last: number, utterance: string) {
    this.#random = random;
    this.#number = last;
    this.#utterance = utterance;
    this.#id = createIdSource({ now: () => this.#time, random });
    this.#said = [[utterance, utterance]];
    for (let step = 0; step < 30; step += 1) {
      this.#time += 1;
      this.#pick(this.#steps)();
    }
  }

  get events(): CapturedEvent[] {
    const timestamp = new Date(this.#time).toISOString();
    return this.#events.map((event) => ({ timestamp, ...event }) as CapturedEvent);
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  #next(): string {
    this.#number += 1;
    return `msg_${String(this.#number).padStart(3, '0')}`;
  }

  #hear(): void {
    const [id, agentId, content] = [this.#id(), this.#pick(this.#agents), `heard ${this.#number}`];
    const [substance, link] = this.#random() < 0.5 ? this.#pick(this.#said) : [];
    const links = substance === undefined ? {} : { substance };
    const message = { role: 'user', content, source: { kind: 'user' } } as const;
    this.#events.push(...takeApart(message, { id, agentId, ...links }));
    const named = link === undefined ? {} : { link };
    this.expected.push({ message_id: this.#next(), agent_id: agentId, content, isPiece: false, ...named });
  }

  #answer(): void {
    const [id, agentId, content] = [this.#id(), this.#pick(this.#agents), `said ${this.#number}`];
    const thinking = this.#random() < 0.5 ? { thinking: { text: 'Hm' } } : {};
    const toolCalls = Array.from({ length: Math.floor(this.#random() * 3) }, (_, at) => ({
      toolCallId: `${id}-${at}`,
      tool: 'look',
      input: {},
    }));
    const calls = toolCalls.length === 0 ? {} : { toolCalls };
    const made = takeApart({ role: 'assistant', content, ...thinking, ...calls }, { id, agentId });
    const inference = { model: 'm', usage: { inputTokens: 1, outputTokens: 1 } };
    this.#events.push(
      ...made,
      newEvent('agent:inference', inference, { id: this.#id(), agentId, messageId: id }),
    );
    const name = this.#next();
    this.expected.push({ message_id: name, agent_id: agentId, content, isPiece: false });
    if (toolCalls.length === 0)
      this.#said.push([made.find(({ type }) => type === 'agent:text')?.id ?? '', name]);
  }

  #createAgent(): void {
    const agentId = `agent_new_${this.#number}`;
    this.#events.push(newEvent('agent:created', { peer: true }, { id: this.#id(), agentId }));
    this.#agents.push(agentId);
    this.expected.push({ message_id: this.#next(), agent_id: agentId, isPiece: false });
  }

  #addText(): void {
    const agentId = this.#pick(this.#agents);
    const text = `text ${this.#number}`;
    const links = { id: this.#id(), agentId, cause: this.#utterance };
    this.#events.push(newEvent('agent:piece_of_text', { text }, links));
    this.expected.push({ message_id: this.#next(), agent_id: agentId, content: text, isPiece: true });
  }
}

const logs = [
  ['session-v1', bookClubV1, 'utterance_ref'],
  ['session-v2', bookClubV2, 'substance'],
] as const;

describe.each(logs)('a %s log that a session continues at random', (format, records, substanceKey) => {
  const { read, write } = sessionFormats[format];
  const log = logOf(...records).replaceAll(/"m(\d+)"/g, (_, digits) => `"msg_${digits.padStart(3, '0')}"`);
  const imported = read(log).events;
  const ids = records.map(({ message_id: id }) => String(id));
  const last = Math.max(...ids.map((id) => Number(id.slice(1))));
  const said = records.find((record) => record.role === 'assistant' && record.tool_calls === undefined);
  const utterance = `msg_${String(said?.message_id).slice(1).padStart(3, '0')}`;

  it('is written with the numbers that follow, in every link, and again as it was written, from 200 seeds', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const { events, expected } = new ContinuedLog(randomFrom(seed), last, utterance);
      const { text } = write([...imported, ...events]);
      const written = recordsIn(text) as Record<string, unknown>[];
      const added = written.slice(records.length).map((record) => ({
        message_id: record.message_id,
        agent_id: record.agent_id,
        ...(record.content === undefined ? {} : { content: record.content }),
        ...(record[substanceKey] === undefined ? {} : { link: record[substanceKey] }),
      }));
      const hasPieces = format === 'session-v2';
      const wanted = expected.flatMap(({ isPiece, ...one }) => (isPiece && !hasPieces ? [] : [one]));
      expect(added, `seed ${seed}`).toEqual(wanted);
      expect(written.slice(0, records.length), `seed ${seed}`).toEqual(recordsIn(write(imported).text));
      // What was written before stays when the log grows, and what was read is written as it was.
      const half = write([...imported, ...events.slice(0, Math.floor(events.length / 2))]).text;
      const whole = half.slice(0, half.lastIndexOf('\n', half.length - 2) + 1);
      expect(text.startsWith(whole), `seed ${seed}`).toBe(true);
      expect(write(read(text).events).text, `seed ${seed}`).toBe(text);
    }
  });
});

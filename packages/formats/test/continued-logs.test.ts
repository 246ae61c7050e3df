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
function continued(random: () => number, last: number, utterance: string) {
  let time = now();
  const createId = createIdSource({ now: () => time, random: () => random() });
  const events: NewEvent[] = [];
  const expected: (Expected & { readonly isPiece: boolean })[] = [];
  const agents = ['agent_root'];
  /** Ids of utterances, and what they must be called. */
  const said: [id: string, name: string][] = [[utterance, utterance]];
  let number = last;
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const next = () => {
    number += 1;
    return `msg_${String(number).padStart(3, '0')}`;
  };
  const steps = [
    () => {
      const [id, agentId, content] = [createId(), pick(agents), `heard ${number}`];
      const [substance, link] = random() < 0.5 ? pick(said) : [];
      const links = substance === undefined ? {} : { substance };
      events.push(
        ...takeApart({ role: 'user', content, source: { kind: 'user' } }, { id, agentId, ...links }),
      );
      expected.push({
        message_id: next(),
        agent_id: agentId,
        content,
        isPiece: false,
        ...(link === undefined ? {} : { link }),
      });
    },
    () => {
      const [id, agentId, content] = [createId(), pick(agents), `said ${number}`];
      const thinking = random() < 0.5 ? { thinking: { text: 'Hm' } } : {};
      const calls = Array.from({ length: Math.floor(random() * 3) }, (_, at) => ({
        toolCallId: `${id}-${at}`,
        tool: 'look',
        input: {},
      }));
      const made = takeApart(
        { role: 'assistant', content, ...thinking, ...(calls.length === 0 ? {} : { toolCalls: calls }) },
        { id, agentId },
      );
      events.push(
        ...made,
        newEvent(
          'agent:inference',
          { model: 'm', usage: { inputTokens: 1, outputTokens: 1 } },
          { id: createId(), agentId, messageId: id },
        ),
      );
      const name = next();
      expected.push({ message_id: name, agent_id: agentId, content, isPiece: false });
      if (calls.length === 0) said.push([made.find(({ type }) => type === 'agent:text')?.id ?? '', name]);
    },
    () => {
      const agentId = `agent_new_${number}`;
      events.push(newEvent('agent:created', { peer: true }, { id: createId(), agentId }));
      agents.push(agentId);
      expected.push({ message_id: next(), agent_id: agentId, isPiece: false });
    },
    () => {
      const agentId = pick(agents);
      events.push(
        newEvent(
          'agent:piece_of_text',
          { text: `text ${number}` },
          { id: createId(), agentId, cause: utterance },
        ),
      );
      expected.push({ message_id: next(), agent_id: agentId, content: `text ${number - 1}`, isPiece: true });
    },
    () => void events.push(newEvent('session:complete', { status: 'completed' }, { id: createId() })),
  ];
  for (let step = 0; step < 30; step += 1) {
    time += 1;
    pick(steps)();
  }
  const timestamp = new Date(time).toISOString();
  return { events: events.map((event) => ({ timestamp, ...event }) as CapturedEvent), expected };
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
      const { events, expected } = continued(randomFrom(seed), last, utterance);
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

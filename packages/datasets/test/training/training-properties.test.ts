import { randomFrom } from '@hansard/testing';
import type { ContextMessage, ContextPolicy } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { documentedSchemas } from './documented-schemas.ts';
import { type Row, type SpokenAnswer, Talk, write } from './talk.ts';

const seeds = Array.from({ length: 80 }, (_, at) => at + 1);
const agents = ['agent_001', 'agent_002', 'agent_003'];
const policies: readonly ContextPolicy[] = [
  { name: 'full' },
  { name: 'full' },
  { name: 'lastMessages', count: 5, step: 3 },
  { name: 'faded', budget: 800 },
  { name: 'faded', budget: 1_000, step: 0 },
];

/** A random talk of several agents with all kinds of events. Each answer has a unique text. */
function randomTalk(seed: number): Talk {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const talk = new Talk();
  for (const agent of agents) talk.enter(agent, `Name of ${agent}`);
  const usual = pick(policies);
  for (let turn = 0; turn < 25; turn += 1) {
    const agent = pick(agents);
    if (random() < 0.8)
      talk.tell(agent, `Told ${turn} ${'again '.repeat(random() < 0.1 ? 400 : random() * 20)}`);
    if (random() < 0.05)
      talk.add('session:compaction', { trigger: 'auto', summary: `So far ${turn}.` }, { agentId: agent });
    if (random() < 0.1)
      talk.add('agent:output', { parts: [{ kind: 'text', text: `Seen ${turn}` }] }, { agentId: agent });
    if (random() < 0.1) talk.discard(talk.ask(agent, usual));
    const request = talk.ask(agent, random() < 0.9 ? usual : pick(policies));
    const isRecorded = random() < 0.9 || request.manifest.policy.name !== 'full';
    // Without a record of the prompt, messages in flight cannot be distinguished.
    if (isRecorded && random() < 0.15) talk.tell(agent, `In flight ${turn}`);
    const calls = Array.from({ length: random() < 0.4 ? 1 + Math.floor(random() * 2) : 0 }, (_, place) => ({
      toolCallId: `c${turn}-${place}`,
      tool: 'look',
      input: { at: turn, list: [place], note: random() < 0.2 ? 'a long note '.repeat(80) : '' },
    }));
    const answer: SpokenAnswer = {
      ...(calls.length > 0 && random() < 0.5
        ? {}
        : { text: `Answer ${turn}. ${random() < 0.2 ? 'At length. '.repeat(200) : ''}` }),
      ...(random() < 0.3 ? { thinking: `Thought ${turn}.` } : {}),
      calls,
    };
    const said = talk.answer(request, answer, { isRecorded });
    for (const { toolCallId, tool } of calls)
      if (random() < 0.95) talk.result(agent, toolCallId, tool, `Result ${toolCallId}`);
    if (answer.text !== undefined && random() < 0.5)
      for (const other of agents) if (other !== agent) talk.tell(other, answer.text, { substance: said });
  }
  return talk;
}

/** A message in a form that is common to all formats. */
interface Plain {
  readonly role: string;
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly input: unknown }[];
}

const plain = (message: ContextMessage): Plain => ({
  role: message.role,
  text: message.text,
  calls: message.role === 'assistant' ? message.toolCalls.map(({ tool, input }) => ({ tool, input })) : [],
});

function plainRow({ role, content = '', tool_calls = [] }: Row): Plain {
  return {
    role,
    text: content,
    calls: tool_calls.map(({ function: { name, arguments: input } }: Row) => ({
      tool: name,
      input: typeof input === 'string' ? JSON.parse(input) : input,
    })),
  };
}

const saidBy = ({ text = '', calls = [] }: SpokenAnswer): Plain => ({
  role: 'assistant',
  text,
  calls: calls.map(({ tool, input }) => ({ tool, input })),
});

const keyOf = (value: unknown) => JSON.stringify(value);

/** Each trained answer of a row, with the messages before it. */
function trainedIn({ prompt, completion, messages }: Row): [before: Plain[], answer: Plain][] {
  const all: Row[] = messages ?? [...prompt, ...completion];
  return all.flatMap((message, at): [Plain[], Plain][] => {
    const isTrained =
      messages === undefined ? at === all.length - 1 : message.role === 'assistant' && message.weight !== 0;
    return isTrained ? [[all.slice(0, at).map(plainRow), plainRow(message)]] : [];
  });
}

describe.each(['trl', 'trl-chat', 'openai'] as const)('the rows of %s, for any talk', (format) => {
  it('train each answer with its exact prompt, at most once, or the manifest says why not', async () => {
    let merged = 0;
    for (const seed of seeds) {
      const talk = randomTalk(seed);
      const { rows, manifest } = await write(talk, { format });
      for (const row of rows) documentedSchemas[format].parse(row);
      const given = new Set(
        talk.given.map(({ messages, answer }) => keyOf([messages.map(plain), saidBy(answer)])),
      );
      const trained = rows.flatMap(trainedIn).map(keyOf);
      expect(new Set(trained).size, `seed ${seed}`).toBe(trained.length);
      expect(
        trained.filter((key) => !given.has(key)),
        `seed ${seed}`,
      ).toEqual([]);
      const dropped = Object.values(manifest.dropped).reduce((sum, { count }) => sum + count, 0);
      expect(dropped, `seed ${seed}`).toBe(talk.given.length - trained.length);
      expect(manifest.calls.inRows, `seed ${seed}`).toBe(trained.length);
      if (format !== 'trl-chat')
        expect(
          Object.keys(manifest.dropped).filter((reason) => reason !== 'dangling_call'),
          `seed ${seed}`,
        ).toEqual([]);
      merged += trained.length - rows.length;
    }
    expect(merged > 100).toBe(format !== 'trl');
  });
});

describe('the rows of sharegpt, for any talk', () => {
  it('have the form of LLaMA-Factory, and train each answer at most once', async () => {
    let count = 0;
    for (const seed of seeds) {
      const { rows, manifest } = await write(randomTalk(seed), { format: 'sharegpt' });
      for (const row of rows) documentedSchemas.sharegpt.parse(row);
      const answers = rows.flatMap(({ conversations }) =>
        conversations.flatMap(({ from, value }: Row) =>
          from === 'gpt' || from === 'function_call' ? [value] : [],
        ),
      );
      expect(new Set(answers).size, `seed ${seed}`).toBe(answers.length);
      expect(manifest.calls.inRows, `seed ${seed}`).toBe(answers.length);
      count += answers.length;
    }
    expect(count).toBeGreaterThan(300);
  });
});

describe('sft_dataset.jsonl, for any talk', () => {
  it('has a row for each call except dangling ones, each as specified', async () => {
    for (const seed of seeds) {
      const talk = randomTalk(seed);
      const { rows, manifest } = await write(talk, { format: 'sft' });
      for (const row of rows) documentedSchemas.sft.parse(row);
      expect(rows.length + (manifest.dropped.dangling_call?.count ?? 0), `seed ${seed}`).toBe(
        talk.given.length,
      );
    }
  });
});

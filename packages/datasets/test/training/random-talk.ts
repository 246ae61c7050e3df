import type { ContextPolicy } from '@hansard/prompt';
import { randomFrom } from '@hansard/testing';
import { type SpokenAnswer, Talk } from './talk.ts';

/** `HANSARD_SEEDS` sets how many talks are written. */
export const seeds = Array.from({ length: Number(process.env.HANSARD_SEEDS ?? 30) }, (_, at) => at + 1);
const agents = ['agent_001', 'agent_002', 'agent_003'];
const policies: readonly ContextPolicy[] = [
  { name: 'full' },
  { name: 'full' },
  { name: 'lastMessages', count: 5, step: 3 },
  { name: 'faded', budget: 800 },
  { name: 'faded', budget: 1_000, step: 0 },
];

/** A random talk of several agents with all kinds of events. Each answer has a unique text. */
export function randomTalk(seed: number): Talk {
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

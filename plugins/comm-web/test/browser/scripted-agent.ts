import type { Delta } from '@hansard/events';
import { openScriptedModel } from '@hansard/model-scripted';
import type { AgentProvider, ModelMessage } from '@hansard/provider';

/** Lets an agent take one step at a time. */
export class Steps {
  readonly #waiting: (() => void)[] = [];
  #left = 0;

  /** Allows this number of further steps. */
  go(count = 1): void {
    this.#left += count;
    for (let at = 0; at < count; at += 1) this.#waiting.shift()?.();
  }

  async next(signal: AbortSignal): Promise<void> {
    while (this.#left === 0) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    this.#left -= 1;
  }
}

/** An agent with one model call for the prompt and for each message. Each word that it streams is a step, and so is the whole text. */
export async function scriptedAgent(steps: Steps, says: readonly string[]): Promise<AgentProvider> {
  const turns = says.map((say) => ({ say, stream: true }));
  const model = await openScriptedModel({ scenario: { agents: { root: turns } } });
  const agentId = 'agent_001';
  return {
    contract: 1,
    async *run({ prompt, messages, signal }) {
      yield {
        kind: 'event',
        event: { type: 'agent:created', agentId, data: { name: 'Ada', languageModel: 'scripted' } },
      };
      const asked: ModelMessage[] = [];
      async function* answer(text: string, turn: number) {
        asked.push({ role: 'user', text });
        const words: Delta[] = [];
        const said = await model.generate({
          agentId,
          agentName: null,
          turn,
          model: null,
          messages: [...asked],
          tools: [],
          signal,
          onDelta: (delta) => words.push(delta),
        });
        for (const delta of words) {
          await steps.next(signal);
          yield { kind: 'delta', delta } as const;
        }
        await steps.next(signal);
        yield { kind: 'event', event: { type: 'agent:text', agentId, data: { text: said.text } } } as const;
        asked.push({ role: 'assistant', text: said.text, toolCalls: [] });
      }
      yield* answer(prompt, 0);
      let turn = 0;
      for await (const { data } of messages) {
        turn += 1;
        yield* answer(String(data.text), turn);
      }
    },
  };
}

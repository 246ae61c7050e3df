import type { JsonObject } from '@hansard/events';
import { asName, asObject } from '../values/json-fields.ts';

const mostWaiting = 1_000;

/** The calls that started sub-agents, by what they told them: the first record of a sub-agent is its prompt. */
export class Launches {
  readonly #callsByPrompt = new Map<string, string[]>();

  /** Notes a block of a model message where it is such a call. */
  note(block: JsonObject): void {
    const toolCallId = asName(block.id);
    const prompt = asName(asObject(block.input)?.prompt);
    if ((block.name !== 'Task' && block.name !== 'Agent') || toolCallId === undefined || prompt === undefined)
      return;
    const calls = this.#callsByPrompt.get(prompt) ?? [];
    if (calls.includes(toolCallId)) return;
    this.#callsByPrompt.set(prompt, [...calls, toolCallId]);
    if (this.#callsByPrompt.size <= mostWaiting) return;
    const [oldest] = this.#callsByPrompt.keys();
    if (oldest !== undefined) this.#callsByPrompt.delete(oldest);
  }

  /** The first call with that prompt which started no other agent. */
  take(prompt: string, isFree: (toolCallId: string) => boolean): string | undefined {
    return this.#callsByPrompt.get(prompt)?.find(isFree);
  }
}

import type { JsonObject } from '@hansard/events';
import { asName, asObject } from '../values/json-fields.ts';

const mostWaiting = 1_000;

/** The calls that started sub-agents, by their prompt, which is also the first record of the sub-agent. */
export class Launches {
  readonly #callsByPrompt = new Map<string, string[]>();

  /** Notes a block of a model message if it is such a call. */
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

  /** The first call with that prompt that has not started another agent. */
  take(prompt: string, isFree: (toolCallId: string) => boolean): string | undefined {
    return this.#callsByPrompt.get(prompt)?.find(isFree);
  }
}

import type { DispatchStatus, JsonObject } from '@hansard/events';
import { isLastLine } from '../mapping/inferences.ts';
import { asBlocks } from '../messages/map-block.ts';
import { isToolResult } from '../messages/map-tool-result.ts';
import { isInterruption } from '../messages/speakers.ts';
import { asObject, asText } from '../values/json-fields.ts';

/** Commands and their output, which are not sent to the model by themselves. */
const command = /^<(command-|local-command-|bash-)/;
const exit = /<command-name>\/(?:exit|quit)</;
const lastHooks: ReadonlySet<unknown> = new Set(['Stop', 'SessionEnd']);

/**
 * The status of a session, as its records show it: `running` while a turn of its main agent is not over. A turn is over
 * with the last line of an answer, a hook for the end of the turn, an error of the API, or an interruption by the user.
 */
export class TurnStatus {
  status: DispatchStatus = 'completed';

  /** Takes the next record of the main agent. */
  observe(record: JsonObject): void {
    const { type, subtype } = record;
    if (type === 'assistant') this.#answer(record);
    else if (type === 'user') this.#prompt(record);
    else if (subtype === 'turn_duration' || subtype === 'stop_hook_summary') this.#endTurn();
    else if (lastHooks.has(asObject(record.data ?? record.attachment)?.hookEvent)) this.#endTurn();
  }

  #answer(record: JsonObject): void {
    const { model, content, stop_reason } = asObject(record.message) ?? {};
    if (record.isApiErrorMessage === true) this.status = 'crashed';
    else if (model !== '<synthetic>')
      this.status = isLastLine(asText(stop_reason), asBlocks(content) ?? []) ? 'completed' : 'running';
  }

  #prompt(record: JsonObject): void {
    const blocks = asBlocks(asObject(record.message)?.content) ?? [];
    const texts = blocks.map((block) => asText(asObject(block)?.text) ?? '');
    if (texts.some(isInterruption)) this.status = 'aborted';
    else if (texts.some((text) => exit.test(text))) this.#endTurn();
    else if (blocks.some(isToolResult)) this.status = 'running';
    else if (record.isMeta === true || record.isCompactSummary === true) return;
    else if (!texts.some((text) => command.test(text))) this.status = 'running';
  }

  #endTurn(): void {
    if (this.status === 'running') this.status = 'completed';
  }
}

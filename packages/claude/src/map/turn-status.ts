import type { DispatchStatus, JsonObject, JsonValue } from '@hansard/events';
import { asName, asObject, asText } from '../lines/json-fields.ts';
import { asBlocks, isToolResult } from './blocks.ts';
import { isLastLine } from './inferences.ts';
import { isInterruption } from './speakers.ts';

/** Commands and their output, which are not sent to the model by themselves. */
const command = /^<(command-|local-command-|bash-)/;
const exit = /<command-name>\/(?:exit|quit)</;
const lastHooks: ReadonlySet<unknown> = new Set(['Stop', 'SessionEnd']);

/** What the records so far show of the latest turn of the main agent. */
export interface TurnFacts {
  readonly status: DispatchStatus;
  /** The status if no record follows. */
  readonly statusIfQuiet: Exclude<DispatchStatus, 'running'>;
  /** The calls of the turn without a result. */
  readonly openCalls: readonly string[];
}

/**
 * The status of a session, as its records show it: `running` while a turn of its main agent is not over. A turn is over
 * with the last line of an answer, a hook for the end of the turn, an error of the API, or an interruption by the user.
 *
 * A turn that is not over ends in one of three ways if no record follows: `completed` if it ends in a text and every call
 * has its result, `aborted` if the user interrupted a call, and `crashed` otherwise.
 */
export class TurnStatus {
  #status: DispatchStatus = 'completed';
  #last: TurnFacts['statusIfQuiet'] = 'completed';
  #openCalls = new Set<string>();

  get facts(): TurnFacts {
    const status = this.#status;
    return {
      status,
      statusIfQuiet: status === 'running' ? this.#last : status,
      openCalls: [...this.#openCalls],
    };
  }

  /** Continues after the records that had these facts. */
  set facts({ status, statusIfQuiet, openCalls }: TurnFacts) {
    this.#status = status;
    this.#last = statusIfQuiet;
    this.#openCalls = new Set(openCalls);
  }

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
    if (record.isApiErrorMessage === true) this.#status = 'crashed';
    else if (model !== '<synthetic>') {
      const blocks = asBlocks(content) ?? [];
      this.#status = isLastLine(asText(stop_reason), blocks) ? 'completed' : 'running';
      for (const block of blocks) this.#note(asObject(block) ?? {});
      const isText = asObject(blocks.at(-1))?.type === 'text';
      this.#last = isText && this.#openCalls.size === 0 ? 'completed' : 'crashed';
    }
  }

  #note({ type, id }: JsonObject): void {
    const call = asName(id);
    if (type === 'tool_use' && call !== undefined) this.#openCalls.add(call);
  }

  #prompt(record: JsonObject): void {
    const blocks = asBlocks(asObject(record.message)?.content) ?? [];
    const results = blocks.filter(isToolResult);
    for (const { tool_use_id } of results) this.#openCalls.delete(String(tool_use_id));
    const texts = blocks.map(textOf);
    if (texts.some(isInterruption)) this.#status = 'aborted';
    else if (texts.some((text) => exit.test(text))) this.#endTurn();
    else if (results.length > 0) this.#run(results.some(isInterrupted) ? 'aborted' : 'crashed');
    else if (record.isMeta === true || record.isCompactSummary === true) return;
    else if (!texts.some((text) => command.test(text))) {
      this.#openCalls.clear();
      this.#run('crashed');
    }
  }

  #run(statusIfQuiet: TurnFacts['statusIfQuiet']): void {
    this.#status = 'running';
    this.#last = statusIfQuiet;
  }

  #endTurn(): void {
    if (this.#status === 'running') this.#status = 'completed';
  }
}

function textOf(block: JsonValue): string {
  return asText(asObject(block)?.text) ?? '';
}

/** Whether the user interrupted the call of a result. */
function isInterrupted({ content }: JsonObject): boolean {
  return typeof content === 'string'
    ? isInterruption(content)
    : (asBlocks(content) ?? []).some((block) => isInterruption(textOf(block)));
}

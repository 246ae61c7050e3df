import { findNotJson, type HansardError, isPlainObject, preview } from '@hansard/events';
import type { LoggedString, ToolAnswer, ToolCall, ToolOutcome } from '@hansard/provider';
import { untilAborted } from '../async/until-aborted.ts';
import { describeFailure } from '../describe-failure.ts';
import { dispatchErrors } from '../dispatch-errors.ts';
import type { Toolbox } from './toolbox.ts';

export interface ToolUse {
  readonly toolbox: Toolbox;
  readonly call: Omit<ToolCall, 'observe'>;
  /** Records values that the agent observes in the call. It copies them before it returns its promise. */
  readonly observe: (values: readonly unknown[]) => Promise<string>;
  /** Throws for an outcome that cannot be recorded. */
  readonly check?: (outcome: ToolOutcome) => void;
}

/**
 * Makes a call that no hook denied. An error of the tool, or of `check`, becomes the outcome. What the tool observed is durable
 * before it resolves. Rejects only when the signal of the call aborts, even if the tool hangs.
 */
export async function useTool({ toolbox, call, observe, check }: ToolUse): Promise<ToolOutcome> {
  const provider = toolbox.providerOf(call.tool);
  if (provider === undefined) return failedOutcome(`There is no tool ${call.tool}; ${namesOf(toolbox)}.`);
  const observations = new Observations(call.toolCallId, observe);
  const made: ToolCall = { ...call, observe: (...values) => observations.add(values) };
  try {
    const outcome = asText(await untilAborted(call.signal, () => provider.callTool(made)));
    await untilAborted(call.signal, () => observations.recorded());
    assertOutcome(call.tool, outcome);
    check?.(outcome);
    return outcome;
  } catch (error) {
    call.signal.throwIfAborted();
    return failedOutcome(describeFailure(error).message);
  } finally {
    observations.end();
  }
}

/** The outcome with its text as a primitive string. */
function asText(answer: ToolAnswer): ToolOutcome {
  const text: unknown = answer?.text;
  if (!(text instanceof String)) return answer as ToolOutcome;
  const { messageId } = text as LoggedString;
  return { madeFrom: [messageId], ...answer, text: String(text) };
}

/** What a tool observes in one call, until the call ends. */
class Observations {
  readonly #toolCallId: string;
  readonly #record: ToolUse['observe'];
  readonly #recording = new Set<Promise<string>>();
  #isOver = false;

  constructor(toolCallId: string, record: ToolUse['observe']) {
    this.#toolCallId = toolCallId;
    this.#record = record;
  }

  add(values: readonly unknown[]): Promise<string> {
    const recording = this.#add(values);
    this.#recording.add(recording);
    // A tool that does not wait for it must not end the process when it fails.
    recording.catch(() => {});
    return recording;
  }

  async #add(values: readonly unknown[]): Promise<string> {
    if (this.#isOver) throw callOver(this.#toolCallId);
    return this.#record(values);
  }

  /** Resolves when all are durable, or have failed. */
  async recorded(): Promise<void> {
    await Promise.allSettled(this.#recording);
  }

  end(): void {
    this.#isOver = true;
  }
}

/** The error of what a tool does after its call. */
export function callOver(toolCallId: string): HansardError {
  return dispatchErrors.error(
    'DISPATCH_CALL_OVER',
    `The tool call ${toolCallId} has ended; a tool must await everything that it does with its call.`,
    { details: { toolCallId } },
  );
}

export function failedOutcome(message: string): ToolOutcome {
  return { status: 'error', text: `Error: ${message}` };
}

/** @throws TypeError */
function assertOutcome(tool: string, outcome: ToolOutcome): void {
  if (typeof outcome?.text !== 'string' || !['completed', 'error'].includes(outcome.status))
    throw new TypeError(`${tool} gave no outcome.`);
  const { metadata = {} } = outcome;
  const notJson = findNotJson(metadata);
  if (notJson !== null)
    throw new TypeError(
      `${tool} returned metadata whose ${notJson.path} is ${preview(notJson.value)}, which JSON cannot hold.`,
    );
  if (!isPlainObject(metadata)) throw new TypeError(`${tool} returned metadata that is not an object.`);
  if (outcome.changes !== undefined && !Array.isArray(outcome.changes))
    throw new TypeError(`${tool} returned changes that are not a list.`);
}

function namesOf({ definitions }: Toolbox): string {
  const names = definitions.map(({ name }) => name).join(', ');
  return names === '' ? 'there are none' : `there are: ${names}`;
}

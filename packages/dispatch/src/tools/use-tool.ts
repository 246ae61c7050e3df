import { findNotJson, isPlainObject, preview } from '@hansard/events';
import type { ToolCall, ToolOutcome } from '@hansard/provider';
import { untilAborted } from '../async/until-aborted.ts';
import { describeFailure } from '../describe-failure.ts';
import type { Toolbox } from './toolbox.ts';

/**
 * Makes a call that no hook denied. An error of the tool, or of `check`, becomes the outcome. Rejects only when the signal of
 * the call aborts, even if the tool hangs.
 */
export async function useTool(
  toolbox: Toolbox,
  call: ToolCall,
  check: (outcome: ToolOutcome) => void = () => {},
): Promise<ToolOutcome> {
  const provider = toolbox.providerOf(call.tool);
  if (provider === undefined) return failedOutcome(`There is no tool ${call.tool}; ${namesOf(toolbox)}.`);
  try {
    const outcome = await untilAborted(call.signal, () => provider.callTool(call));
    assertOutcome(call.tool, outcome);
    check(outcome);
    return outcome;
  } catch (error) {
    call.signal.throwIfAborted();
    return failedOutcome(describeFailure(error).message);
  }
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
}

function namesOf({ definitions }: Toolbox): string {
  const names = definitions.map(({ name }) => name).join(', ');
  return names === '' ? 'there are none' : `there are: ${names}`;
}

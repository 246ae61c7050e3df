import type { JsonObject } from '@hansard/events';
import { asList, asObject, asText } from '../values/json-fields.ts';

/** Links from a result to the utterance that it carries, or to those that it was made from. */
export interface AnswerLinks {
  readonly substance?: string;
  readonly cause?: string[];
}

/** The last text of a sub-agent that was not followed by a tool call: its answer, if it ended there. */
export interface Answer {
  readonly id: string;
  readonly text: string;
}

/** Links a result to the utterances that it was made from (see `ToolOutcome` of `@hansard/provider`). */
export function linksToUtterances(ids: readonly string[]): AnswerLinks {
  const [first] = ids;
  if (first === undefined) return {};
  return ids.length === 1 ? { substance: first } : { cause: [...ids] };
}

/**
 * Links the result of a call to the answer of the sub-agent that it started: as its substance if the result holds the
 * answer word for word, otherwise as its cause.
 */
export function linksToAnswer(
  answer: Answer | undefined,
  output: JsonObject | undefined,
  text: string,
): AnswerLinks {
  if (answer === undefined) return {};
  const parts = asList(output?.content)?.map((block) => asText(asObject(block)?.text)) ?? [];
  const holdsIt = parts.includes(answer.text) || text.includes(answer.text);
  return holdsIt ? { substance: answer.id } : { cause: [answer.id] };
}

import type { JsonObject } from '@hansard/events';
import { asList, asObject, asText } from '../values/json-fields.ts';

/** What a result carries on, or was made of. */
export interface AnswerLinks {
  readonly substance?: string;
  readonly cause?: string[];
}

/** The last text of a sub-agent that no tool call of it followed: its answer, where it ended there. */
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
 * Links the result of a call to the answer of the sub-agent that it started: it carries the answer on, whatever frame
 * is around it; where it does not hold it as it was said, it was made of it.
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

import type { ModelMessage } from '@hansard/provider';
import type { ScriptedTurn } from './scenario.ts';

/**
 * The turn that answers these messages: the first in the list that was not played before and whose `when` fits the
 * last message. What was played before is found by giving the earlier answers of the transcript once more, so that a
 * resumed session gets the answer that one which was never interrupted would get.
 */
export function pickTurn(
  turns: readonly ScriptedTurn[],
  messages: readonly ModelMessage[],
  answersBefore: number,
): ScriptedTurn | null {
  let left = turns;
  let picked: ScriptedTurn | null = null;
  for (const question of questionsOf(messages, answersBefore)) {
    const index = left.findIndex((turn) => fits(turn, question));
    picked = left[index] ?? null;
    if (picked !== null && !picked.repeat) left = left.toSpliced(index, 1);
  }
  return picked;
}

/** The last message before each answer, the one to come included; null where the transcript holds it no more. */
function questionsOf(messages: readonly ModelMessage[], answersBefore: number): (string | null)[] {
  const seen = messages.flatMap(({ role }, index) =>
    role === 'assistant' ? [messages[index - 1]?.text ?? ''] : [],
  );
  const forgotten = Array<null>(Math.max(0, answersBefore - seen.length)).fill(null);
  return [...forgotten, ...seen, messages.at(-1)?.text ?? ''];
}

function fits({ when }: ScriptedTurn, question: string | null): boolean {
  if (when === undefined) return true;
  if (question === null) return false;
  const { contains, regex } = when;
  if (contains !== undefined) return question.includes(contains);
  return regex !== undefined && new RegExp(regex, 'u').test(question);
}

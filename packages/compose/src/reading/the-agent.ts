import type { NamedAnswer } from '@hansard/facts';
import { harnessErrors } from '../harness-errors.ts';

/** The agent that a word names. @throws HARNESS_NOT_FOUND with all agents, HARNESS_AMBIGUOUS with those that it fits */
export function theAgent<Agent>(
  answer: NamedAnswer<Agent>,
  word: string,
  all: readonly string[],
  label: (agent: Agent) => string,
): Agent {
  if (answer.kind === 'found') return answer.item;
  if (answer.kind === 'ambiguous')
    throw harnessErrors.error(
      'HARNESS_AMBIGUOUS',
      `${answer.items.length} agents are named ${JSON.stringify(word)}: ${answer.items.map(label).join(', ')}.`,
      { advice: 'Name the agent by its id.' },
    );
  throw harnessErrors.error('HARNESS_NOT_FOUND', `There is no agent ${JSON.stringify(word)}.`, {
    advice: all.length === 0 ? 'The dispatch has no events.' : `The agents are: ${all.join(', ')}.`,
  });
}

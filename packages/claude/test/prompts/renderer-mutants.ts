import type { ContextMessage } from '@hansard/prompt';

/** The messages of the prompt of each answer, by the id of the answer. */
export type Prompts = ReadonlyMap<string, readonly ContextMessage[]>;

interface RendererMutant {
  readonly name: string;
  /** The prompts as a renderer with this fault gives them. */
  readonly render: (prompts: Prompts) => Prompts;
}

type Change = (messages: readonly ContextMessage[]) => readonly ContextMessage[];

/** Each fault is in one prompt only: the longest. */
export const rendererMutants: readonly RendererMutant[] = [
  mutant('omits the result of a call', (messages) => without(messages, lastOf(messages, 'tool'))),
  mutant('omits a text of the user', (messages) => without(messages, lastOf(messages, 'user'))),
  mutant('has a result before its call', (messages) => {
    const at = lastOf(messages, 'tool');
    return swapped(messages, at - 1);
  }),
  mutant('has a text of the user after the answer to it', (messages) =>
    swapped(messages, lastOf(messages, 'user')),
  ),
  mutant('has a text of the user twice', (messages) => {
    const at = lastOf(messages, 'user');
    return messages.toSpliced(at, 0, ...messages.slice(at, at + 1));
  }),
  mutant('has the text of an answer twice', (messages) => {
    const at = messages.findLastIndex(({ role, text }) => role === 'assistant' && text !== '');
    return messages.map((message, place) =>
      place === at ? { ...message, text: message.text.repeat(2) } : message,
    );
  }),
  mutant('loses that a call failed, or says so of one that did not', (messages) => {
    const at = lastOf(messages, 'tool');
    return messages.map((message, place) =>
      place === at && message.role === 'tool' ? { ...message, isError: !message.isError } : message,
    );
  }),
  mutant('shows the answer itself', (messages) => [
    ...messages,
    { role: 'assistant', text: 'The answer.', toolCalls: [] },
  ]),
  mutant('shows nothing of the last message', (messages) => messages.slice(0, -1)),
];

function mutant(name: string, change: Change): RendererMutant {
  return {
    name,
    render(prompts) {
      const [longest] = [...prompts].sort(([, one], [, other]) => other.length - one.length);
      if (longest === undefined) return prompts;
      return new Map([...prompts, [longest[0], change(longest[1])]]);
    },
  };
}

function lastOf(messages: readonly ContextMessage[], role: ContextMessage['role']): number {
  return messages.findLastIndex((message) => message.role === role);
}

function without(messages: readonly ContextMessage[], at: number): readonly ContextMessage[] {
  return messages.toSpliced(at, 1);
}

function swapped(messages: readonly ContextMessage[], at: number): readonly ContextMessage[] {
  return messages.toSpliced(at, 2, ...messages.slice(at, at + 2).reverse());
}

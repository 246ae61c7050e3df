import type {
  Delta,
  LanguageModelProvider,
  ModelMessage,
  ModelRequest,
  ModelResponse,
} from '@hansard/provider';

export function request(messages: readonly ModelMessage[], rest: Partial<ModelRequest> = {}): ModelRequest {
  return {
    agentId: 'agent_002',
    agentName: 'jill',
    turn: messages.filter(({ role }) => role === 'assistant').length,
    model: null,
    messages,
    tools: [],
    signal: new AbortController().signal,
    ...rest,
  };
}

export const user = (text: string): ModelMessage => ({ role: 'user', text });

export function toMessage({ text, toolCalls }: ModelResponse): ModelMessage {
  return { role: 'assistant', text, toolCalls };
}

/** What an agent answers to each of these, one after the other. */
export async function converse(model: LanguageModelProvider, told: readonly string[]): Promise<string[]> {
  const messages: ModelMessage[] = [];
  const answers: string[] = [];
  for (const text of told) {
    messages.push(user(text));
    const response = await model.generate(request(messages));
    answers.push(response.text);
    messages.push(toMessage(response));
  }
  return answers;
}

export function collectDeltas(): { readonly deltas: Delta[]; readonly onDelta: (delta: Delta) => void } {
  const deltas: Delta[] = [];
  return { deltas, onDelta: (delta) => deltas.push(delta) };
}

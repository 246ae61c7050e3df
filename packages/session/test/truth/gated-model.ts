import type { LanguageModelProvider, ModelMessage, ModelRequest, ModelResponse } from '@hansard/provider';

/** A model call that waits for its answer. */
export interface GatedCall {
  readonly agentId: string;
  /** As the model was given them. */
  readonly messages: readonly ModelMessage[];
  answer(response: Pick<ModelResponse, 'text' | 'toolCalls' | 'thinking' | 'replay'>): void;
}

/** A model whose every call waits until the test answers it. */
export class GatedModel implements LanguageModelProvider {
  readonly contract = 1;
  readonly #onCall: (call: GatedCall) => void;

  constructor(onCall: (call: GatedCall) => void) {
    this.#onCall = onCall;
  }

  generate({ agentId, messages }: ModelRequest): Promise<ModelResponse> {
    const { promise, resolve } = Promise.withResolvers<ModelResponse>();
    const answer: GatedCall['answer'] = (response) =>
      resolve({ model: 'gated-1', usage: { inputTokens: 1, outputTokens: 1 }, ...response });
    this.#onCall({ agentId, messages, answer });
    return promise;
  }
}

import type { ContextMessage, TokenCounter } from '@hansard/prompt';
import type { CallRun } from '../call-run.ts';
import type { Conversation, TrainingMessage } from '../conversation.ts';
import type { CallFacts } from '../training-call.ts';
import type { TrainingFormat } from '../training-formats.ts';
import type { RowOptions } from './row-options.ts';
import { type MeasureMessage, plus, type RowSize } from './row-size.ts';

/** The characters of a text whose tokens are counted. The rest is taken to have as many for each character. */
const countedCharacters = 1_000;

/**
 * Measures rows by their parts: the size of a row is that of its facts and of each of its messages, measured once.
 * For each list of messages in a row, the estimate has one comma too many.
 */
export class RowMeasure {
  readonly #format: TrainingFormat;
  readonly #options: RowOptions;
  readonly #tokens: TokenCounter | undefined;
  /** The bytes of a row without facts and messages. */
  readonly #empty: number;

  constructor(format: TrainingFormat, options: RowOptions, tokens: TokenCounter | undefined) {
    this.#format = format;
    this.#options = options;
    this.#tokens = tokens;
    this.#empty = this.#bytesOf([noFacts], []);
  }

  /** A message of a prompt. */
  readonly message: MeasureMessage = (message) => this.#part({ message, thinking: null, isTrained: false });

  /** A row of all calls of a run. Costs the same however long its prompt is. */
  run({ calls, thinking, last: { prompt, answer } }: CallRun): RowSize {
    let size = plus(this.#factsOf(calls), prompt.size);
    const spoken: ContextMessage = { role: 'assistant', text: answer.text, toolCalls: answer.toolCalls };
    size = plus(size, this.#part({ message: spoken, thinking: answer.thinking, isTrained: true }));
    // The prompt was measured with the earlier answers as if they were not trained.
    const word: ContextMessage = { role: 'assistant', text: 'a', toolCalls: [] };
    const untrained = this.message(word);
    for (const [at, thoughts] of thinking) {
      if (at === prompt.length) continue;
      const trained = this.#part({ message: word, thinking: thoughts, isTrained: true });
      size = plus(size, {
        bytes: trained.bytes - untrained.bytes,
        tokens: trained.tokens - untrained.tokens,
      });
    }
    return size;
  }

  /** A row of these messages, with its exact bytes. */
  row({ calls, messages }: Conversation): RowSize {
    const tokens = messages.reduce((sum, message) => sum + this.#tokensOf(message), 0);
    return { bytes: this.#bytesOf(calls, messages) + 1, tokens };
  }

  #factsOf(calls: readonly [CallFacts, ...CallFacts[]]): RowSize {
    return { bytes: this.#bytesOf(calls, []) + 1, tokens: 0 };
  }

  #part(part: TrainingMessage): RowSize {
    const comma = this.#format.id === 'sft' ? 0 : 1;
    const bytes = this.#bytesOf([noFacts], [part]) - this.#empty + comma;
    return { bytes, tokens: this.#tokensOf(part) };
  }

  #bytesOf(calls: readonly [CallFacts, ...CallFacts[]], messages: readonly TrainingMessage[]): number {
    return Buffer.byteLength(JSON.stringify(this.#format.toRow({ calls, messages }, this.#options)));
  }

  #tokensOf({ message, thinking }: TrainingMessage): number {
    if (this.#tokens === undefined) return 0;
    const thoughts = this.#showsThoughts ? (thinking ?? '') : '';
    const calls = message.role === 'assistant' ? message.toolCalls : [];
    const inputs = calls.map(({ tool, input }) => `${tool}${JSON.stringify(input)}`);
    const text = [thoughts, message.text, ...inputs].join('');
    if (text.length <= countedCharacters) return this.#tokens.count(text);
    return (this.#tokens.count(text.slice(0, countedCharacters)) * text.length) / countedCharacters;
  }

  get #showsThoughts(): boolean {
    return this.#format.thoughts.length === 0 || this.#options.reasoning !== 'drop';
  }
}

const noFacts: CallFacts = {
  dispatchId: '',
  agentId: '',
  agentName: '',
  agentRole: '',
  turn: '',
  model: null,
  eventId: '',
  isRecorded: false,
  isShortened: false,
};

import type { ContextMessage, TokenCounter } from '@hansard/prompt';
import { type CallRun, SeenRows, type TrainingMessage } from './conversation.ts';
import type { TrainedAnswer } from './inference-records.ts';
import {
  type MeasureMessage,
  nothing,
  plus,
  type RowOptions,
  type RowSize,
  wordsAndThoughts,
} from './rows.ts';
import type { CallFacts } from './training-call.ts';
import type { TrainingFormat } from './training-formats.ts';
import type { ReadingTally, TrainingSource } from './training-source.ts';

/** The characters of a text whose tokens are counted. The rest is taken to have as many for each character. */
const countedCharacters = 1_000;

const noFacts: CallFacts = {
  dispatchId: '',
  agentId: '',
  agentName: '',
  agentRole: '',
  turn: '',
  outcome: '',
  model: null,
  eventId: '',
  isRecorded: false,
  isShortened: false,
  tools: { basis: 'absent', id: null, value: null, isWhole: false },
};

/** The size of training data before it is written. Rows and calls are exact, unless the log changes in the meantime. */
export interface TrainingEstimate {
  readonly rows: number;
  /** As in the file, or up to 2 bytes more for each row, 3 with images. */
  readonly bytes: number;
  /** In the messages of all rows, so a prompt counts as often as it is repeated; null without a counter. The form of the target is not counted. */
  readonly tokens: number | null;
  readonly calls: { readonly inRows: number; readonly of: number };
}

/**
 * Reads the dispatches without keeping rows. Each message is measured once, and a prompt has the sum of its messages; no
 * row is built. Of a text over 1,000 characters, the tokens of the first 1,000 stand for the rest.
 */
export async function estimateRows(
  source: TrainingSource,
  counter: TokenCounter | undefined,
): Promise<TrainingEstimate> {
  const { files } = source.row;
  const estimate = await measureRows(source, counter);
  // In a file with images every text of TRL has another form.
  return files.hasImages && source.format.id.startsWith('trl') ? measureRows(source, counter) : estimate;
}

async function measureRows(
  source: TrainingSource,
  counter: TokenCounter | undefined,
): Promise<TrainingEstimate> {
  const { format } = source;
  const measure = new RowMeasure(format, source.row, counter);
  const seen = new SeenRows();
  let [rows, dropped, inRows, size] = [0, 0, 0, nothing];
  const tally: ReadingTally = {
    addEvent() {},
    drop() {
      dropped += 1;
    },
  };
  for (const envelope of source.full) {
    for await (const run of source.runsOf(envelope, tally, measure.message)) {
      if (!seen.isNew(run, tally.drop)) continue;
      size = plus(size, measure.run(run));
      inRows += run.calls.length;
      rows += 1;
    }
  }
  const tokens = counter === undefined ? null : Math.round(size.tokens);
  return { rows, bytes: size.bytes, tokens, calls: { inRows, of: inRows + dropped } };
}

function spoken({ text, toolCalls }: Pick<TrainedAnswer, 'text' | 'toolCalls'>): ContextMessage {
  return { role: 'assistant', text, toolCalls };
}

/**
 * Measures rows by their parts: the size of a row is that of its facts and of each of its messages, measured once.
 * For each list of messages in a row, the estimate has one comma too many.
 */
class RowMeasure {
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
  run({ calls, answers, last: { prompt, answer } }: CallRun): RowSize {
    let size = plus(this.#factsOf(calls), prompt.size);
    size = plus(size, this.#part({ message: spoken(answer), thinking: answer.thinking, isTrained: true }));
    // The prompt was measured with the earlier answers as if they were not trained.
    for (const [at, one] of answers) {
      if (at === prompt.length) continue;
      // What thoughts add depends on those in a text. Otherwise it does not depend on the text.
      const message = spoken(this.#options.split === null ? { text: 'a', toolCalls: [] } : one);
      const untrained = this.message(message);
      const trained = this.#part({ message, thinking: one.thinking, isTrained: true });
      size = plus(size, {
        bytes: trained.bytes - untrained.bytes,
        tokens: trained.tokens - untrained.tokens,
      });
    }
    return size;
  }

  #factsOf(calls: readonly [CallFacts, ...CallFacts[]]): RowSize {
    return { bytes: this.#bytesOf(calls, []) + 1, tokens: 0 };
  }

  #part(part: TrainingMessage): RowSize {
    const { id } = this.#format;
    const hasColumn = id.startsWith('trl') && this.#options.files.imagesIn(part.message).length > 0;
    const commas = (id === 'sft' ? 0 : 1) + (hasColumn ? 1 : 0);
    const bytes = this.#bytesOf([noFacts], [part]) - this.#empty + commas;
    return { bytes, tokens: this.#tokensOf(part) };
  }

  #bytesOf(calls: readonly [CallFacts, ...CallFacts[]], messages: readonly TrainingMessage[]): number {
    const row = JSON.stringify(this.#format.toRow({ calls, messages }, this.#options));
    return Buffer.byteLength(row) + this.#options.files.takeUnwritten();
  }

  #tokensOf({ message, thinking: apart }: TrainingMessage): number {
    if (this.#tokens === undefined) return 0;
    const said =
      message.role === 'assistant'
        ? wordsAndThoughts(message.text, apart, this.#options)
        : { text: message.text, thinking: null };
    const { thinking } = said;
    const thoughts = this.#showsThoughts ? (thinking ?? '') : '';
    const calls = message.role === 'assistant' ? message.toolCalls : [];
    const inputs = calls.map(({ tool, input }) => `${tool}${JSON.stringify(input)}`);
    const text = [thoughts, said.text, ...inputs].join('');
    if (text.length <= countedCharacters) return this.#tokens.count(text);
    return (this.#tokens.count(text.slice(0, countedCharacters)) * text.length) / countedCharacters;
  }

  get #showsThoughts(): boolean {
    return this.#format.thoughts.length === 0 || this.#options.reasoning !== 'drop';
  }
}

/** Counts the tokens of a text. The same text has the same count, always. */
export interface TokenCounter {
  /** Names the counter in manifests, such as `gpt-tokenizer/o200k_base`: the same id means the same counts. */
  readonly id: string;
  count(text: string): number;
}

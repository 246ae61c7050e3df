import { definedOnly } from '@hansard/events';
import type { ContextManifest, TokenCounter } from '@hansard/views';
import { createTokenCounter, tokenEncodings } from '@hansard/views/tokens';

/** The counter for a context: the one that its manifest names if it is available, otherwise the default. */
export async function contextCounters(recorded: ContextManifest | null): Promise<readonly TokenCounter[]> {
  const named = tokenEncodings.find((encoding) => recorded?.tokens?.counter === `gpt-tokenizer/${encoding}`);
  return [await createTokenCounter(definedOnly({ encoding: named }))];
}

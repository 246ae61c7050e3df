import { addRedactions, type RedactionCounts } from '@hansard/events';

export function sumOfCounts(all: readonly RedactionCounts[]): RedactionCounts {
  const sums: Record<string, number> = {};
  for (const counts of all) addRedactions(sums, counts);
  return sums;
}

/** A note about the secrets that an export has replaced: the log still has them. */
export function redactionNotes(counts: RedactionCounts): string[] {
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  if (kinds.length === 0) return [];
  return [
    `Secrets replaced in the export: ${kinds.join(', ')}. The log still has them; \`hansard secrets redact\` replaces them there.`,
  ];
}

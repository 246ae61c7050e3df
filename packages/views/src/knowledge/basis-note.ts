import type { Basis } from '@hansard/prompt';

/** A line about rows that are reconstructed; none if all are recorded. */
export function basisNote(rows: readonly { readonly basis: Basis | null }[]): readonly string[] {
  return rows.some(({ basis }) => basis === 'reconstructed')
    ? ['(reconstructed: the log does not record what the model was given)']
    : [];
}

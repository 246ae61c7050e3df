/** The rows that are looked for. */
export interface Query {
  readonly text: string;
  /** Null: of every agent. */
  readonly agentId: string | null;
  readonly kind: string | null;
  readonly failed: boolean;
}

/** The kinds of rows, each with a word for people. */
export const kinds = [
  ['said', 'said'],
  ['message', 'received'],
  ['call', 'calls'],
  ['thought', 'thoughts'],
  ['aside', 'beside calls'],
  ['noise', 'harness records'],
  ['event', 'others'],
] as const;

export const everything: Query = { text: '', agentId: null, kind: null, failed: false };

export function isEverything({ text, agentId, kind, failed }: Query): boolean {
  return text === '' && agentId === null && kind === null && !failed;
}

export function isSameQuery(one: Query, other: Query): boolean {
  return (
    one.text === other.text &&
    one.agentId === other.agentId &&
    one.kind === other.kind &&
    one.failed === other.failed
  );
}

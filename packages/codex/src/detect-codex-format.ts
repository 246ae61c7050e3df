import { recordsAtStart } from '@hansard/claude';
import { isPlainObject, type JsonValue } from '@hansard/events';

/** The kinds of records that every version of Codex writes. */
const kinds: ReadonlySet<unknown> = new Set([
  'compacted',
  'event_msg',
  'inter_agent_communication_metadata',
  'response_item',
  'session_meta',
  'token_usage_record',
  'turn_context',
  'world_state',
]);

/** Whether a value is a record of a rollout: a kind, a payload and the time of writing. */
export function isCodexRecord(value: JsonValue): boolean {
  return (
    isPlainObject(value) &&
    kinds.has(value.type) &&
    isPlainObject(value.payload) &&
    typeof value.timestamp === 'string'
  );
}

interface CodexShares {
  readonly records: number;
  readonly known: number;
}

/** More records show nothing else. */
const mostCounted = 100;

/** The last start and its records: an import asks for them several times. */
let latest: { readonly start: string; readonly shares: CodexShares } | null = null;

/** Counts the first hundred records of the start of a file, and those of Codex among them. */
export function codexShares(start: string): CodexShares {
  if (latest?.start !== start) latest = { start, shares: countShares(start) };
  return latest.shares;
}

function countShares(start: string): CodexShares {
  let records = 0;
  let known = 0;
  for (const record of recordsAtStart(start)) {
    records += 1;
    if (isCodexRecord(record)) known += 1;
    if (records === mostCounted) break;
  }
  return { records, known };
}

/** Whether the start of a file shows a rollout of Codex: most of its records are. */
export function detectCodexFormat(start: string): boolean {
  const { records, known } = codexShares(start);
  return known > records / 2;
}

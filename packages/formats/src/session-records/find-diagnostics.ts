import { type JsonObject, preview } from '@hansard/events';
import { idText, references } from './id-text.ts';
import { isName } from './name-pool.ts';
import { meantCall } from './record-links.ts';
import { foreignTrait } from './session-dialect.ts';
import type { SessionEntry, SessionReading } from './session-reading.ts';

/** Reports unusual records. All of them could be read. */
export function findDiagnostics(reading: SessionReading, entries: readonly SessionEntry[]): void {
  const creations = new Map<string | undefined, number>();
  for (const { kind, agentId, line } of entries) {
    if (kind === 'agent_created' && !creations.has(agentId)) creations.set(agentId, line.line);
  }
  const reported = new Set<string>();
  const agentNames = new Map<string, number>();
  for (const entry of entries) {
    checkKind(reading, entry);
    checkContent(reading, entry);
    checkId(reading, entry);
    checkReferences(reading, entry);
    checkExactness(reading, entry);
    checkAgent(reading, entry, creations, reported);
    if (entry.kind === 'agent_created') checkName(reading, entry, agentNames);
  }
}

function checkKind(
  { dialect, report }: SessionReading,
  { kind, line: { line, isUtf8 }, record }: SessionEntry,
): void {
  if (!isUtf8) report(line, 'not_utf8', 'The line is not UTF-8; invalid bytes were replaced by U+FFFD.');
  const foreign = foreignTrait(dialect, record);
  if (foreign !== null) {
    report(line, 'other_dialect', `A ${dialect.id} log does not have ${foreign}; it is kept unchanged.`);
  } else if (kind === null) {
    const kinds = `event_type ${preview(record.event_type)} and role ${preview(record.role)}`;
    report(line, 'unknown_kind', `Not a kind of record that ${dialect.id} knows: ${kinds}.`);
  }
}

function checkContent({ report }: SessionReading, { kind, line, record }: SessionEntry): void {
  const { content = null } = record;
  if (kind === null || kind === 'agent_created' || content === null || typeof content === 'string') return;
  report(
    line.line,
    'wrong_value',
    `content is ${preview(content)}, which is not text. Its parts are read as text.`,
  );
}

function checkId({ names, report }: SessionReading, { id, line, record }: SessionEntry): void {
  const text = idText(record.message_id);
  if (text === undefined) {
    report(line.line, 'id_missing', `The record has no message_id; its id becomes ${id}.`);
  } else if (names.definitionOf(text) !== line) {
    const first = names.definitionOf(text)?.line;
    report(
      line.line,
      'id_taken',
      `${preview(text)} is already the id of line ${first}; this one becomes ${id}.`,
    );
  } else if (id !== text && isName(text)) {
    const message = `${preview(text)} is already the id of an event of another record; this one becomes ${id}.`;
    report(line.line, 'id_taken', message);
  } else if (id !== text) {
    report(line.line, 'id_replaced', `${preview(text)} is not a valid event id; it becomes ${id}.`);
  }
}

function checkReferences({ dialect, names, report }: SessionReading, { line, record }: SessionEntry): void {
  const { substanceKey, causeKey, mayHaveBoth } = dialect;
  for (const key of [substanceKey, causeKey]) {
    for (const reference of references(record[key])) {
      const definition = names.definitionOf(reference);
      if (definition === undefined) {
        report(
          line.line,
          'reference_missing',
          `${key} ${preview(reference)} does not name any record of the log.`,
        );
      } else if (definition.line >= line.line) {
        const where =
          definition === line ? 'the record itself' : `line ${definition.line}, which comes later`;
        report(line.line, 'reference_ahead', `${key} ${preview(reference)} is ${where}.`);
      }
    }
  }
  const [substance, ...otherSubstances] = references(record[substanceKey]);
  const passed = references(record[causeKey]).filter((reference) => reference !== substance);
  if (substance === undefined) return;
  if (otherSubstances.length > 0) {
    const message = `${substanceKey} names ${otherSubstances.length + 1} records; an event has one substance: the first.`;
    report(line.line, 'reference_not_exact', message);
  }
  if (passed.length > 1) {
    const message = `${causeKey} names ${passed.length} records besides ${substanceKey}; an event has one via: the first.`;
    report(line.line, 'reference_not_exact', message);
  }
  if (!mayHaveBoth && references(record[causeKey]).length > 0) {
    const message = `The record has both ${substanceKey} and ${causeKey}; ${causeKey} is read as via.`;
    report(line.line, 'substance_and_cause', message);
  }
}

/** Reports references to messages with tool calls that do not say which part of the message they mean. */
function checkExactness(reading: SessionReading, { line, record }: SessionEntry): void {
  const { dialect, names, severalCalls, report } = reading;
  const { substanceKey, causeKey } = dialect;
  const hasSubstance = references(record[substanceKey]).length > 0;
  for (const key of [substanceKey, causeKey]) {
    for (const reference of references(record[key])) {
      const definition = names.definitionOf(reference);
      const calls = severalCalls.get(names.refer(reference)) ?? [];
      if (key === substanceKey && isCalling(definition?.record)) {
        const message = `${key} ${preview(reference)} is a message with tool calls, not an utterance; it means its first call.`;
        report(line.line, 'reference_not_exact', message);
      } else if (key === causeKey && calls.length > 1 && meantCall(record, calls) === undefined) {
        const isAll = !hasSubstance && definition !== undefined && definition.line < line.line;
        const message = `${key} ${preview(reference)} is a message with ${calls.length} tool calls and does not say which one; it means ${isAll ? 'all of them' : 'the first'}.`;
        report(line.line, 'reference_not_exact', message);
      }
    }
  }
}

function isCalling(record: JsonObject | undefined): boolean {
  return record?.role === 'assistant' && Array.isArray(record.tool_calls) && record.tool_calls.length > 0;
}

function checkAgent(
  { report }: SessionReading,
  { kind, agentId, line: { line }, record }: SessionEntry,
  creations: ReadonlyMap<string | undefined, number>,
  reported: Set<string>,
): void {
  const text = idText(record.agent_id);
  if (text === undefined || agentId === undefined) {
    const message = 'The record names no agent; it belongs to the dispatched agent.';
    if (kind !== null) report(line, 'agent_missing', message);
    return;
  }
  const created = creations.get(agentId);
  if (kind === 'agent_created' && created !== line) {
    report(line, 'agent_created_twice', `${preview(text)} was created on line ${created}.`);
  }
  if (reported.has(agentId)) return;
  if (agentId !== text) {
    reported.add(agentId);
    const problem = isName(text) ? 'already the id of another agent' : 'not a valid agent id';
    const message = `${preview(text)} is ${problem}; it becomes ${agentId}.`;
    report(line, 'agent_id_replaced', message);
  }
  if (kind !== null && (created === undefined || created > line)) {
    reported.add(agentId);
    const where = created === undefined ? 'nowhere in this log' : `on line ${created} only`;
    report(line, 'agent_not_created', `${preview(text)} is created ${where}.`);
  }
}

function checkName({ report }: SessionReading, entry: SessionEntry, agentNames: Map<string, number>): void {
  const { name } = entry.record;
  if (typeof name !== 'string') return;
  const first = agentNames.get(name);
  if (first === undefined) agentNames.set(name, entry.line.line);
  else report(entry.line.line, 'name_taken', `The agent of line ${first} has the name ${preview(name)} too.`);
}

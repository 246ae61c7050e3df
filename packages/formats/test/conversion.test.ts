import type { JsonObject } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { createLogIndex } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { sessionFormats } from '../src/index.ts';
import { type Conversion, convert, mayBeLeftOut, silentChanges } from './conversion-oracle.ts';
import { logOf, recordsIn } from './make.ts';
import { randomRecords, recordShapes, recordsWithCalls } from './random-records.ts';

/** `HANSARD_SEEDS` sets how many logs are converted. */
const seeds = Array.from({ length: Number(process.env.HANSARD_SEEDS ?? 100) }, (_, index) => index + 1);

describe.each([
  ['session-v1', 'session-v2'],
  ['session-v2', 'session-v1'],
] as const)('a log of %s that becomes one of %s and returns', (from, to) => {
  const conversionOf = (seed: number): Conversion =>
    convert(randomRecords(randomFrom(seed), recordShapes[from]), sessionFormats[from], sessionFormats[to]);

  it('has the same records, or a diagnostic for each value and record that changed, in random logs', () => {
    for (const seed of seeds) {
      const conversion = conversionOf(seed);
      expect(silentChanges(conversion, to), `seed ${seed}`).toEqual([]);
      const kept = new Set([conversion.there, conversion.back].flatMap((log) => log.map(({ n }) => n)));
      for (const record of conversion.original)
        expect(kept.has(record.n), `seed ${seed}, record ${record.n}`).toBe(!mayBeLeftOut(record));
    }
  });

  it('fails that comparison when a value, a record or a diagnostic is dropped from either log', () => {
    const dropped = { values: 0, records: 0, diagnostics: 0 };
    for (const seed of seeds.slice(0, 2)) {
      const conversion = conversionOf(seed);
      const { there, back, reported } = conversion;
      for (const name of ['there', 'back'] as const) {
        for (const [index, record] of conversion[name].entries()) {
          if (record.n === undefined) continue;
          const without = conversion[name].filter((other) => other !== record);
          expect(silentChanges({ ...conversion, [name]: without }, to), `seed ${seed}`).not.toEqual([]);
          dropped.records += 1;
          for (const key of Object.keys(record)) {
            if (key === 'n' || isReplaced(conversion, record, key)) continue;
            const { [key]: _, ...others } = record;
            const mutant = { ...conversion, [name]: conversion[name].with(index, others) };
            expect(silentChanges(mutant, to), `seed ${seed}, ${key} of ${record.n} in ${name}`).not.toEqual(
              [],
            );
            dropped.values += 1;
          }
        }
      }
      for (const place of reported) {
        const rest = new Set([...reported].filter((other) => other !== place));
        if (silentChanges({ original: conversion.original, there, back, reported: rest }, to).length > 0)
          dropped.diagnostics += 1;
      }
    }
    expect(dropped.records).toBeGreaterThan(100);
    expect(dropped.values).toBeGreaterThan(400);
    expect(dropped.diagnostics).toBeGreaterThan(20);
  });

  it('means by each cause the call that its record names, or reports that it names none', () => {
    let exact = 0;
    let reported = 0;
    for (const seed of seeds) {
      const records = recordsWithCalls(randomFrom(seed), recordShapes[from]).map((record, n) => ({
        ...record,
        n,
      }));
      const { events, report } = sessionFormats[from].read(logOf(...records));
      const index = createLogIndex(events);
      for (const { record, calls, line } of causedBySeveralCalls(records, recordShapes[from])) {
        const event = events.find(({ data }) => isOf(data, line - 1));
        const meant = calls.filter((id) => id === meantBy(record));
        const causes = [event?.cause ?? []].flat().map((id) => index.find(id)?.event.data.toolCallId);
        const codes = report.diagnostics
          .filter((diagnostic) => diagnostic.line === line)
          .map(({ code }) => code);
        if (meant.length === 1) {
          expect(causes, `seed ${seed}, line ${line}`).toEqual(meant);
          exact += 1;
        } else {
          expect(causes, `seed ${seed}, line ${line}`).toEqual(calls);
          expect(codes, `seed ${seed}, line ${line}`).toContain('reference_not_exact');
          reported += 1;
        }
      }
    }
    expect(exact).toBeGreaterThan(3 * seeds.length);
    expect(reported).toBeGreaterThan(3 * seeds.length);
  });
});

/** Whether a diagnostic is about the value, or the record has it only by a rule of its dialect. */
function isReplaced({ original, reported }: Conversion, record: JsonObject, key: string): boolean {
  const otherKey = {
    utterance_ref: 'substance',
    caused_by: 'cause',
    substance: 'utterance_ref',
    cause: 'caused_by',
  }[key];
  const source = original[Number(record.n)] ?? {};
  const isCopied = [key, otherKey ?? key].some((name) => Object.hasOwn(source, name));
  return !isCopied || [key, otherKey].some((name) => reported.has(`${record.n} ${name}`));
}

interface Caused {
  readonly record: JsonObject;
  /** The call ids of the message that it names as its only cause. */
  readonly calls: readonly string[];
  /** From 1. */
  readonly line: number;
}

/** The records without a substance whose only cause is an earlier message with several calls that have different ids. */
function causedBySeveralCalls(
  records: readonly JsonObject[],
  { substanceKey, causeKey }: (typeof recordShapes)['session-v1'],
): Caused[] {
  const firsts = new Map<string, JsonObject>();
  return records.flatMap((record, index) => {
    const { [causeKey]: cause, [substanceKey]: substance, message_id: id } = record;
    const definition = typeof cause === 'string' ? firsts.get(cause) : undefined;
    if (typeof id === 'string' && !firsts.has(id)) firsts.set(id, record);
    if (substance !== undefined || definition?.role !== 'assistant') return [];
    const calls = [definition.tool_calls ?? []].flat().map((call) => (call as JsonObject | null)?.id);
    const ids = calls.filter((call) => typeof call === 'string');
    const isPlain = ids.length === calls.length && new Set(ids).size === ids.length;
    const isEntry = definition.event_type === undefined || definition.event_type === 'transcript_entry';
    return isPlain && isEntry && ids.length > 1 ? [{ record, calls: ids, line: index + 1 }] : [];
  });
}

/** The call that a record names: a result the one that it answers, any other the one beside its cause. */
function meantBy({ role, tool_call_id: answered, cause_tool_call_id: named }: JsonObject) {
  return named ?? (role === 'tool' ? answered : undefined);
}

/** Whether this is the data of the first event of a record with a number. */
function isOf(data: JsonObject, n: number): boolean {
  const { put } = (data.record ?? {}) as { put?: JsonObject };
  return data.n === n || put?.['/n'] === n;
}

/** The keys of the schemas in the specifications, copied by hand. */
const schemaKeys = {
  'session-v1': {
    agent_created: 'message_id event_type agent_id caused_by name language_model',
    entry: 'message_id agent_id role content source caused_by utterance_ref tool_calls tool_call_id name',
  },
  'session-v2': {
    agent_created: 'message_id event_type agent_id cause name language_model',
    piece_of_text: 'message_id event_type agent_id content cause',
    entry: 'message_id event_type agent_id role content substance tool_calls tool_call_id name',
  },
} as const;

describe.each([
  ['session-v1', 'session-v2'],
  ['session-v2', 'session-v1'],
] as const)('a log of %s that is written as one of %s', (from, to) => {
  it('has the keys of the schema and no others, and counts those that it leaves out', () => {
    const kinds: Readonly<Record<string, string>> = schemaKeys[to];
    const seen = { omitted: 0, records: 0 };
    for (const seed of seeds) {
      const random = randomFrom(seed);
      const records =
        seed % 2 === 0
          ? recordsWithCalls(random, recordShapes[from])
          : randomRecords(random, recordShapes[from]);
      const { events } = sessionFormats[from].read(logOf(...records));
      const strict = sessionFormats[to].write(events);
      const extended = sessionFormats[to].write(events, { isExtended: true });
      expect(extended.omittedKeys).toEqual({});
      const [lines, whole] = [strict, extended].map(({ text }) => recordsIn(text) as JsonObject[]);
      const omitted: Record<string, number> = {};
      for (const [index, record] of (lines ?? []).entries()) {
        const allowed = (kinds[`${record.event_type}`] ?? kinds.entry ?? '').split(' ');
        // A result that was compiled from several messages.
        if (record.role === 'tool' && Array.isArray(record.cause)) allowed.push('cause');
        expect(
          Object.keys(record).filter((key) => !allowed.includes(key)),
          `seed ${seed}`,
        ).toEqual([]);
        for (const key of Object.keys(whole?.[index] ?? {}))
          if (!Object.hasOwn(record, key)) omitted[key] = (omitted[key] ?? 0) + 1;
        seen.records += 1;
      }
      seen.omitted += Object.keys(omitted).length;
      // The message with its call is not counted as a cause: the call id of a result says it.
      const counted = { cause: 0, ...strict.omittedKeys };
      expect(counted.cause).toBeLessThanOrEqual(omitted.cause ?? 0);
      expect({ ...counted, cause: 0 }, `seed ${seed}`).toEqual({ ...omitted, cause: 0 });
    }
    expect([seen.records > 16 * seeds.length, seen.omitted > seeds.length / 3]).toEqual([true, true]);
  });
});

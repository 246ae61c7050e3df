import { createHash } from 'node:crypto';
import type { DispatchEnvelope } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { knownEnvelope, misplacedAs, placeInTime, writtenName } from '@hansard/store-kit';
import { corrupt } from './server/redis-errors.ts';
import { rowFields } from './server/scripts.ts';
import type { Reply } from './server/server.ts';

/** The hash of a dispatch. Its key names the place, `written` the name under which the dispatch was written. */
export interface DispatchRow {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** Its events are below this number. A rewrite gives it a new one. */
  readonly number: string;
  readonly written: string;
  readonly started: string;
  readonly status: string;
  readonly sum: string;
  readonly envelope: string;
  /** The token of the opening that has claimed it; '': none. */
  readonly writer: string;
  /** The lease of the last claim as text. */
  readonly owner: string;
  readonly epoch: number;
  /** The number of events that were stored. */
  readonly length: number;
  /** The checksum of the last event; '' without events. */
  readonly tail: string;
  /** The time of the last event: '' if that is not recorded; null without events. */
  readonly last: string | null;
  /** The numbers of earlier events, which accepted losses have left. */
  readonly losses: readonly string[];
  /** Milliseconds after which the lease of the writer ends unless it is renewed. Below 0: it has ended, or nobody has claimed the dispatch. */
  readonly leaseLeft: number;
}

export function toRow(taskDir: string, dispatchId: string, reply: Reply): DispatchRow {
  const values = reply as readonly (string | null)[];
  const field = (name: (typeof rowFields)[number]) => values[rowFields.indexOf(name)] ?? '';
  return {
    ...{ taskDir, dispatchId, number: field('number'), written: field('written') },
    ...{ started: field('started'), status: field('status'), sum: field('sum'), envelope: field('envelope') },
    ...{ writer: field('writer'), owner: field('owner'), epoch: Number(field('epoch')) },
    ...{ length: Number(field('length')), tail: field('tail') },
    last: values[rowFields.indexOf('last')] ?? null,
    losses: field('losses')
      .split(',')
      .filter((number) => number !== ''),
    leaseLeft: Number(values[rowFields.length]),
  };
}

type Written = Pick<DispatchRow, 'written' | 'started' | 'status' | 'envelope'>;

/** A SHA-1, which a script of the server can compute, too. It detects accidents and not malice. */
function envelopeSum({ written, started, status, envelope }: Written): string {
  return createHash('sha1').update([written, started, status, envelope].join('\n')).digest('hex');
}

/** The fields of an envelope in its row, in the order of the scripts: started, status, sum, envelope. */
export function envelopeFields(written: string, envelope: DispatchEnvelope): readonly string[] {
  const text = JSON.stringify(envelope);
  const started = placeInTime(envelope);
  const { status } = envelope;
  return [started, status, envelopeSum({ written, started, status, envelope: text }), text];
}

/** `name` is that of the store. @throws STORE_CORRUPT, STORE_NEWER, STORE_MISPLACED */
export function decodeEnvelope(row: DispatchRow, name: string): DispatchEnvelope {
  assertNamed(row, name);
  return decodeWritten(row, name);
}

/** The same, under whatever name the row was written. @throws STORE_CORRUPT, STORE_NEWER */
export function decodeWritten(row: DispatchRow, name: string): DispatchEnvelope {
  const { taskDir, dispatchId, envelope } = row;
  if (envelopeSum(row) === row.sum) {
    const place = `Dispatch ${dispatchId} of ${taskDir} in ${name}`;
    return knownEnvelope(JSON.parse(envelope), place, { file: name, dispatchId });
  }
  const what = `the envelope of dispatch ${dispatchId} of ${taskDir} does not have its checksum`;
  throw corrupt(name, what, { dispatchId });
}

/** @throws STORE_MISPLACED if a whole row was written under another name */
export function assertNamed(row: DispatchRow, name: string): void {
  if (!isNamed(row) && envelopeSum(row) === row.sum)
    throw misplacedAs(row.written, row, `Key ${writtenName(row.taskDir, row.dispatchId)} of ${name}`);
}

export function isNamed({ written, taskDir, dispatchId }: DispatchRow): boolean {
  return written === writtenName(taskDir, dispatchId);
}

/** The damage of an envelope in words; null if it can be read. */
export function envelopeDamage(row: DispatchRow, name: string): string | null {
  try {
    decodeEnvelope(row, name);
    return null;
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
    return 'the envelope does not have the checksum of the one that was written';
  }
}

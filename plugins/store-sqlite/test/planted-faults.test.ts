import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { importMutated } from '@hansard/testing/mutants';
import { dispatchId, envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { describe, expect, it } from 'vitest';
import { AcknowledgedLengths } from '../src/database/acknowledged-lengths.ts';
import type * as Sqlite from '../src/sqlite-store.ts';
import { ManualClock } from './manual-clock.ts';
import { codeOf, openStore, temporaryPath } from './temporary-store.ts';

type Mutation = readonly [file: string, piece: string, instead: string];
type Open = typeof Sqlite.openStoreOn;

const home = new URL('..', import.meta.url).pathname;

async function opener(mutation: Mutation): Promise<Open> {
  return ((await importMutated(home, mutation, 'sqlite-store.ts')) as typeof Sqlite).openStoreOn;
}

const [first, second, third, ...others] = growingEvents(6);

/**
 * A batch whose second insert fails in the database, while a counted length waits to be written.
 * @returns what another opening reads after the timer has written it
 */
function afterFailedBatch(open: Open): string {
  const path = temporaryPath();
  const clock = new ManualClock();
  const store = open({ path }, { clock });
  store.createDispatch(taskDir, envelope());
  store.appendEvent(taskDir, dispatchId, first as never);
  // Within a second of the length that was written: this one waits for the timer.
  store.appendEvent(taskDir, dispatchId, second as never);
  const other = new DatabaseSync(path);
  other.exec(
    `CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.position = 3 BEGIN SELECT RAISE(ABORT, 'refused'); END`,
  );
  expect(codeOf(() => store.appendEvents(taskDir, dispatchId, [third, ...others] as never))).toBe(
    'STORE_UNAVAILABLE',
  );
  other.exec('DROP TRIGGER refuse');
  other.close();
  clock.advance(2_000);
  const code = codeOf(() => expect(openStore(path).getDispatchEvents(taskDir, dispatchId)).toHaveLength(2));
  store.close();
  return code;
}

/** An owner whose length waits, overtaken by one that writes more and releases. @returns the length in the file at the end */
function afterOvertaking(open: Open): number {
  const path = temporaryPath();
  const clock = new ManualClock();
  const store = open({ path }, { clock });
  store.createDispatch(taskDir, envelope());
  store.appendEvent(taskDir, dispatchId, first as never);
  store.appendEvent(taskDir, dispatchId, second as never);
  const next = openStore(path);
  next.breakClaim(taskDir, dispatchId);
  next.claimDispatch(taskDir, dispatchId);
  next.appendEvents(taskDir, dispatchId, [third, ...others] as never);
  next.releaseDispatch(taskDir, dispatchId);
  clock.advance(2_000);
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare('SELECT number, database_id AS id FROM dispatches, head').get();
  database.close();
  const lengths = new AcknowledgedLengths(path, String(row?.id));
  const length = lengths.read(Number(row?.number), taskDir, dispatchId)?.length ?? -1;
  lengths.close();
  store.close();
  return length;
}

/** A dispatch that lost its last event after its release, with the file of lengths. @returns the code of a read */
function afterLostEvent(open: Open): string {
  const path = temporaryPath();
  const store = open({ path });
  store.createDispatch(taskDir, envelope());
  for (const event of [first, second, third]) store.appendEvent(taskDir, dispatchId, event as never);
  store.releaseDispatch(taskDir, dispatchId);
  store.close();
  const database = new DatabaseSync(path);
  database.exec('DELETE FROM events WHERE position = 2');
  database.close();
  rmSync(`${path}-lengths`);
  return codeOf(() => openStore(path).getDispatchEvents(taskDir, dispatchId));
}

const writer = 'events/event-writer.ts';
const counts = 'events/acknowledgements.ts';
const claims = 'claimed-dispatches.ts';
const keep = (file: string, piece: string): Mutation => [file, piece, piece];

describe('of a failed batch', () => {
  const piece = '      dispatch.length = length;\n';

  it('no event is counted, also if the length waited to be written', async () => {
    expect(afterFailedBatch(await opener(keep(writer, piece)))).toBe('none');
  });

  it('a store that keeps the counted length is found', async () => {
    expect(afterFailedBatch(await opener([writer, piece, '']))).toBe('STORE_CORRUPT');
  });
});

describe('a length that waits', () => {
  const piece = 'if (written < length) lengths.write';

  it('is not written over a greater one of the next owner', async () => {
    expect(afterOvertaking(await opener(keep(counts, piece)))).toBe(6);
  });

  it('that is written anyway is found', async () => {
    expect(afterOvertaking(await opener([counts, piece, 'lengths.write']))).toBe(2);
  });
});

describe('a release', () => {
  const piece = '    leases.keepEventCount(row.number);\n    leases.end';

  it('counts the events in the database, so that a lost one is damage without the file of lengths', async () => {
    expect(afterLostEvent(await opener(keep(claims, piece)))).toBe('STORE_CORRUPT');
  });

  it('that forgets the number of events is found', async () => {
    expect(afterLostEvent(await opener([claims, piece, '    leases.end']))).toBe('none');
  });
});

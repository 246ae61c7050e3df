import type { CapturedEvent } from '@hansard/events';
import { dispatchId, envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { expect, it } from 'vitest';
import { openStoreOn, type SqliteStore } from '../../src/sqlite-store.ts';
import { openStore, temporaryPath } from '../temporary-store.ts';
import { SimulatedDatabase } from './simulated-database.ts';

type Read = (store: SqliteStore) => readonly CapturedEvent[];

const all: Read = (store) => store.getDispatchEvents(taskDir, dispatchId);
/** Every event has this word before and after the rewrite. */
const found: Read = (store) => store.searchEvents('text').map(({ event }) => event);

/** Rewrites a dispatch before the statement with this number of a read. @returns the texts that are read */
function readBeside(statement: number, read: Read): string[] {
  const path = temporaryPath();
  const writer = openStore(path);
  writer.createDispatch(taskDir, envelope());
  writer.appendEvents(taskDir, dispatchId, growingEvents(3));
  let steps = Number.NEGATIVE_INFINITY;
  const reader = openStoreOn(
    { path },
    {
      openDatabase: (location, options) =>
        new SimulatedDatabase(
          location,
          options,
          (work) => {
            steps += 1;
            if (steps === statement)
              writer.rewriteDispatch(taskDir, dispatchId, {
                envelope: (one) => one,
                event: (event) => ({ ...event, data: { text: 'new text' } }),
              });
            return work();
          },
          (sql) => sql,
        ),
    },
  );
  read(reader);
  steps = 0;
  const events = read(reader);
  reader.close();
  return events.map(({ data }) => String((data as { text: string }).text));
}

it.each([1, 2, 3, 4])(
  'a read with a rewrite before its statement %s has the old or the new events',
  (statement) => {
    const texts = readBeside(statement, all);
    expect(texts).toHaveLength(3);
    expect(new Set(texts.map((text) => text === 'new text')).size).toBe(1);
  },
);

it.each([1, 2, 3, 4, 5, 6, 7])(
  'a search with a rewrite before its statement %s finds every event that had the word before and has it afterwards',
  (statement) => {
    expect(readBeside(statement, found)).toHaveLength(3);
  },
);

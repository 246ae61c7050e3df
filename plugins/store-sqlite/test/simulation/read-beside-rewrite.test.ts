import { expect, it } from 'vitest';
import { openStoreOn } from '../../src/sqlite-store.ts';
import { dispatchId, envelope, growingEvents, taskDir } from '../sample-data.ts';
import { openStore, temporaryPath } from '../temporary-store.ts';
import { SimulatedDatabase } from './simulated-database.ts';

/** Rewrites a dispatch before the statement with this number of a read. @returns the texts that are read */
function readBeside(statement: number): string[] {
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
                event: (event) => ({ ...event, data: { text: 'new' } }),
              });
            return work();
          },
          (sql) => sql,
        ),
    },
  );
  reader.getDispatchEvents(taskDir, dispatchId);
  steps = 0;
  const events = reader.getDispatchEvents(taskDir, dispatchId);
  reader.close();
  return events.map(({ data }) => String((data as { text: string }).text));
}

it.each([1, 2, 3, 4])(
  'a read with a rewrite before its statement %s has the old or the new events',
  (statement) => {
    const texts = readBeside(statement);
    expect(texts).toHaveLength(3);
    expect(new Set(texts.map((text) => text === 'new')).size).toBe(1);
  },
);

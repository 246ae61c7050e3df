import { expect, it } from 'vitest';
import { systemFiles } from '../src/files.ts';
import { makeEnvelope } from './envelope.ts';
import { makeEvents, makeRoot, openStore, taskDir } from './sample.ts';

it('reads far less than a whole window for each event of a log that is appended again in another order', () => {
  const events = makeEvents(1, 4_000);
  let bytesRead = 0;
  const read: typeof systemFiles.read = (...args) => {
    const count = systemFiles.read(...args);
    bytesRead += count;
    return count;
  };
  const store = openStore(makeRoot(), {}, { files: { ...systemFiles, read } });
  store.createDispatch(taskDir, makeEnvelope('d1'));
  store.appendEvents(taskDir, 'd1', events);
  bytesRead = 0;
  store.appendEvents(taskDir, 'd1', events);
  expect(bytesRead).toBeGreaterThan(100_000);
  bytesRead = 0;
  store.appendEvents(taskDir, 'd1', events.toReversed());
  expect(bytesRead / events.length).toBeLessThan(40_000);
});

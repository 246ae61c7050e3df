import { expect, it, vi } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { makeEvents, makeRoot, openStore, taskDir } from './sample.ts';

let bytesRead = 0;

vi.mock(import('../src/lines/file-io.ts'), async (load) => {
  const actual = await load();
  return {
    ...actual,
    readInto: (...args) => {
      const count = actual.readInto(...args);
      bytesRead += count;
      return count;
    },
  };
});

it('reads far less than a whole window for each event of a log that is appended again in another order', () => {
  const events = makeEvents(1, 4_000);
  const store = openStore(makeRoot());
  store.createDispatch(taskDir, makeEnvelope('d1'));
  store.appendEvents(taskDir, 'd1', events);
  bytesRead = 0;
  store.appendEvents(taskDir, 'd1', events);
  expect(bytesRead).toBeGreaterThan(100_000);
  bytesRead = 0;
  store.appendEvents(taskDir, 'd1', events.toReversed());
  expect(bytesRead / events.length).toBeLessThan(40_000);
});

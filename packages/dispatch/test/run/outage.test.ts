import { openDispatchStore, startDispatch } from '@hansard/dispatch';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { failingStore } from '../support/failing-store.ts';
import { turn } from '../support/gate.ts';
import { agent, says } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';
const words = ['one', 'two', 'three', 'four'];

/** Runs an agent whose store is away from its second text on, for some time. */
async function runThrough(outageMs: number) {
  const clock = new ManualClock();
  const { provider, inner, failures } = failingStore(1);
  const store = openDispatchStore(provider, { clock, retryMs: 10_000 });
  let awaySince = Number.NaN;
  const speaker = agent(async function* () {
    for (const word of words) {
      if (word === 'two') {
        failures.isAway = true;
        awaySince = clock.monotonic();
        clock.after(outageMs, () => {
          failures.isAway = false;
        });
      }
      yield says(word);
    }
  });
  const run = await startDispatch({ store, taskDir, clock, role: 'worker', agent: speaker, prompt: 'Go' });
  let outcome: unknown = null;
  void run.ended.then(
    (ended) => {
      outcome = ended;
    },
    (error: unknown) => {
      outcome = error;
    },
  );
  for (let step = 0; step < 4_000 && outcome === null; step += 1) {
    for (let turns = 0; turns < 3; turns += 1) await turn();
    clock.advance(25);
  }
  const tookMs = clock.monotonic() - awaySince;
  failures.isAway = false;
  const texts = (await inner.getDispatchEvents(taskDir, run.dispatchId))
    .filter(({ type }) => type === 'agent:text')
    .map(({ data }) => (data as { text: string }).text);
  const envelope = await inner.getDispatchEnvelope(taskDir, run.dispatchId);
  return { outcome, texts, envelope, tookMs };
}

describe('a run whose store is away', () => {
  it('for less than retryMs continues, with every event in its order', async () => {
    const { outcome, texts, envelope } = await runThrough(9_000);
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(texts).toEqual(words);
    expect(envelope).toMatchObject({ status: 'completed' });
  });

  it('for longer ends with the error of the store, which says how long it was tried', async () => {
    const { outcome, texts, tookMs } = await runThrough(60_000);
    expect(outcome).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { triedMs: 10_000 } });
    expect(tookMs).toBeLessThan(25_000);
    expect(texts).toEqual(['one']);
  });
});

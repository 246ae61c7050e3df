import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { startScript } from './processes/start-script.ts';
import { codeOf, makeEvent, makeRoot, openStore, taskDir } from './sample.ts';

const leaseMs = 500;

/** A process that appends without end, stopped after some acknowledged events, and the number of these. */
async function stoppedWriter() {
  const root = makeRoot();
  const store = openStore(root, { leaseMs });
  store.createDispatch(taskDir, makeEnvelope('d1'));
  store.releaseDispatch(taskDir, 'd1');
  const writer = startScript('append-events', [root, taskDir, 'd1', '50', `${leaseMs}`]);
  let acknowledged = 0;
  for (let line = 0; line < 5; line += 1) acknowledged = toCount(await writer.nextLine());
  writer.child.kill('SIGSTOP');
  return { root, store, writer, acknowledged };
}

const toCount = (line: string) => Number(line.slice('ack '.length));

it.each(['takeover', 'breakClaim'] as const)(
  'a process that was stopped, and lost its dispatch by a %s, writes nothing into the log when it continues',
  async (way) => {
    const { root, store, writer, acknowledged } = await stoppedWriter();
    if (way === 'breakClaim') store.breakClaim(taskDir, 'd1');
    else {
      expect(codeOf(() => store.claimDispatch(taskDir, 'd1'))).toBe('STORE_LOCKED');
      await vi.waitFor(() => store.claimDispatch(taskDir, 'd1'), { timeout: 20_000, interval: 20 });
    }
    const taken = store.getDispatchEvents(taskDir, 'd1');
    expect(taken.length).toBeGreaterThanOrEqual(acknowledged);
    expect(taken.map(({ data }) => data.number)).toEqual(taken.map((_, at) => at + 1));
    const { cost } = store.getDispatchEnvelope(taskDir, 'd1') ?? {};
    store.claimDispatch(taskDir, 'd1');
    const own = { ...makeEvent(1), id: '~' };
    store.appendEvent(taskDir, 'd1', own);

    writer.child.kill('SIGCONT');
    let line = await writer.nextLine();
    let last = acknowledged;
    for (; line.startsWith('ack '); line = await writer.nextLine()) last = toCount(line);
    expect(line).toBe('STORE_LOCKED STORE_LOCKED STORE_LOCKED STORE_LOCKED');
    expect(taken.length).toBeGreaterThanOrEqual(last);
    expect(store.getDispatchEvents(taskDir, 'd1')).toEqual([...taken, own]);
    expect(store.getDispatchEnvelope(taskDir, 'd1')?.cost).toBe(cost);
    store.close();
    writer.child.kill('SIGKILL');
    expect(readdirSync(join(root, taskDir, 'dispatches'))).toEqual(['d1.json']);
  },
);

it('a process that was stopped for less than a lease keeps its dispatch', async () => {
  const { store, writer } = await stoppedWriter();
  expect(codeOf(() => store.claimDispatch(taskDir, 'd1'))).toBe('STORE_LOCKED');
  writer.child.kill('SIGCONT');
  const before = toCount(await writer.nextLine());
  let after = before;
  for (let line = 0; line < 5; line += 1) after = toCount(await writer.nextLine());
  expect(after).toBeGreaterThan(before);
  expect(store.findClaim(taskDir, 'd1')).toMatchObject({ isOwn: false });
});

import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@hansard/provider';
import { describeWithRedis, useRedis } from '@hansard/testing/redis-in-tests';
import { dispatchId, envelope, growingEvents, idsOf, taskDir } from '@hansard/testing/store-samples';
import { expect, it, onTestFinished } from 'vitest';
import { openRedisStore } from '../src/index.ts';
import { command } from './server/keys.ts';

const server = useRedis();
/** A clock whose timers never run, as those of a process that is stopped. */
const stopped = { ...systemClock, after: () => () => {} };
let prefixes = 0;

/** Two openings. The first one never renews its lease. */
async function pair(leaseMs: number) {
  prefixes += 1;
  const options = { url: server().url(), prefix: `claims-${prefixes}`, leaseMs };
  const first = await openRedisStore(options, { clock: stopped });
  const second = await openRedisStore(options);
  onTestFinished(async () => {
    await first.close();
    await second.close();
  });
  await first.createDispatch(taskDir, envelope());
  await first.appendEvents(taskDir, dispatchId, growingEvents(2));
  const leases = async () =>
    (await command(server().url(), 'KEYS', `{${options.prefix}}:o:*`)) as readonly string[];
  return { first, second, leases };
}

describeWithRedis('a lease that the server ends', () => {
  it('frees the dispatch for another opening, and the writer that did not renew it writes nothing more', async () => {
    const { first, second, leases } = await pair(600_000);
    const locked = { code: 'STORE_LOCKED' };
    await expect(second.claimDispatch(taskDir, dispatchId)).rejects.toMatchObject(locked);
    expect(await second.findClaim(taskDir, dispatchId)).toMatchObject({ state: 'running', isOwn: false });
    const [key = ''] = await leases();
    // A server that has run for longer than the lease.
    await command(
      server().url(),
      'HSET',
      key.replace(/o:.*/, `d:${taskDir}/${dispatchId}`),
      'owner',
      '{"leaseMs":1}',
    );
    for (let until = 0; until < 100 && Number(await uptime()) < 3; until += 1) await pause(100);
    await command(server().url(), 'DEL', key);
    expect(await second.findClaim(taskDir, dispatchId)).toMatchObject({ state: 'expired' });
    expect((await second.claimDispatch(taskDir, dispatchId)).epoch).toBe(2);
    await expect(first.appendEvents(taskDir, dispatchId, growingEvents(2, 2))).rejects.toMatchObject(locked);
    await expect(first.updateDispatch(taskDir, dispatchId, { title: 'late' })).rejects.toMatchObject(locked);
    await second.appendEvents(taskDir, dispatchId, growingEvents(1, 5));
    expect(idsOf(await first.getDispatchEvents(taskDir, dispatchId))).toEqual([
      'e000000',
      'e000001',
      'e000005',
    ]);
  });

  it('while the server was away frees nothing until its owner could renew it', async () => {
    const leaseMs = 1_500;
    const { first, second, leases } = await pair(leaseMs);
    await server().kill();
    await pause((leaseMs * 4) / 3);
    await server().start();
    const started = performance.now();
    expect(await leases()).toEqual([]);
    await expect(second.claimDispatch(taskDir, dispatchId)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    // The owner writes on, because nobody has taken its claim.
    expect(await first.appendEvents(taskDir, dispatchId, growingEvents(1, 2))).toEqual([2]);
    for (;;) {
      try {
        await second.claimDispatch(taskDir, dispatchId);
        break;
      } catch {
        await pause(100);
      }
    }
    // The server counts whole seconds.
    expect(performance.now() - started).toBeGreaterThan(leaseMs - 1_000);
    await expect(first.appendEvents(taskDir, dispatchId, growingEvents(1, 3))).rejects.toMatchObject({
      code: 'STORE_LOCKED',
    });
  });
});

async function uptime(): Promise<string> {
  const info = String(await command(server().url(), 'INFO', 'server'));
  return /uptime_in_seconds:(\d+)/.exec(info)?.[1] ?? '';
}

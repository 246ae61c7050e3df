import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { storeErrors } from '@hansard/provider';
import { refuses, sameContent } from '../../checks/expectations.ts';
import {
  claim,
  dispatchId,
  holdsEvents,
  late,
  optionalMethod,
  taskDir,
} from '../../checks/prepared-store.ts';
import { sampleEvent, sampleEvents } from '../../checks/sample-data.ts';
import { batchEvents } from '../../processes/serve-store.ts';
import { inAnotherNamespace, type StoreProcess, startProcess } from '../../processes/store-process.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily } from '../../run/conformance-case.ts';
import { codeOf, holdsBatches, leaseOf, prepareFree, startWriter } from './other-process.ts';

const needs = ['durability', 'writers'] as const;

/** Several processes use one store at the same time. */
export const processCases = caseFamily('processes', [
  {
    name: 'one-taker',
    rule: 6,
    title: 'of three processes that claim a dispatch at the same time, one succeeds, in each of 12 rounds',
    needs,
    run: async (context) => {
      await prepareFree(context);
      const takers = await Promise.all([1, 2, 3].map(() => startProcess(context)));
      const events = [];
      for (let round = 0; round < 12; round += 1) {
        const replies = await Promise.all(
          takers.map((taker) => taker.call('claimDispatch', taskDir, dispatchId)),
        );
        const winners = takers.filter((_, index) => replies[index] && 'answer' in replies[index]);
        assert.equal(
          winners.length,
          1,
          `${winners.length} of three claims succeeded: ${JSON.stringify(replies)}`,
        );
        for (const reply of replies)
          if (reply === null || !('answer' in reply))
            sameContent(codeOf(reply), 'STORE_LOCKED', 'the code of a lost claim');
        const event = sampleEvent(`round-${round}`);
        const appends = await Promise.all(
          takers.map((taker) => taker.call('appendEvent', taskDir, dispatchId, event)),
        );
        sameContent(
          appends.map(codeOf).sort(),
          [null, 'STORE_LOCKED', 'STORE_LOCKED'].sort(),
          'the outcomes of three appends',
        );
        events.push(event);
        await winners[0]?.call('releaseDispatch', taskDir, dispatchId);
      }
      await holdsEvents(context.store, events);
    },
  },
  {
    name: 'owner-named',
    rule: 6,
    title: 'a claim of what another process has claimed is STORE_LOCKED and names its process id',
    needs,
    run: async (context) => {
      await prepareFree(context);
      const child = await startProcess(context);
      await child.call('claimDispatch', taskDir, dispatchId);
      try {
        await claim(context.store);
      } catch (error) {
        if (!storeErrors.is(error, 'STORE_LOCKED')) throw error;
        assert.ok(
          error.message.includes(String(child.pid)),
          `“${error.message}” does not name process ${child.pid}`,
        );
        return;
      }
      assert.fail('claimDispatch of what another process has claimed succeeded');
    },
  },
  {
    name: 'reader-beside-writer',
    rule: 6,
    title:
      'a reader beside a writer of another process never sees half a batch, and never fewer events than before',
    needs,
    run: async (context) => {
      await prepareFree(context);
      const child = await startWriter(context, 500);
      let seen = 0;
      for (let turn = 0; turn < 40; turn += 1) {
        await child.acknowledge(1);
        for (let read = 0; read < 4; read += 1) {
          // A moment, so that the writer is somewhere in its next batch.
          await setTimeout(1);
          const { first: count } = await context.store.readEvents(taskDir, dispatchId, { last: 0 });
          // The batches have 1, 2, 3 and 4 events.
          assert.ok([0, 1, 3, 6].includes(count % 10), `a read found ${count} events, which divides a batch`);
          assert.ok(count >= seen, `a read found ${count} events after ${seen}`);
          seen = count;
          const page = await context.store.readEvents(taskDir, dispatchId, { last: 4 });
          sameContent(page.events.length, Math.min(4, page.next + 1), 'the number of the last events');
        }
      }
      const acknowledged = Math.max(40, await child.kill());
      await holdsBatches(context.store, [], { prefix: 'writer', textLength: 500, acknowledged });
    },
  },
  {
    name: 'running-owner-keeps-its-claim',
    rule: 6,
    title: 'a process that runs keeps its claim for many leases, including one that writes nothing',
    needs,
    run: async (context) => {
      const leaseMs = leaseOf(context);
      await prepareFree(context);
      const child = await startProcess(context);
      await child.call('claimDispatch', taskDir, dispatchId);
      for (let turn = 0; turn < 16; turn += 1) {
        await refuses('STORE_LOCKED', `claimDispatch after ${turn / 4} leases`, () => claim(context.store));
        await setTimeout(leaseMs / 4);
      }
      sameContent(
        codeOf(await child.call('appendEvent', taskDir, dispatchId, late)),
        null,
        'the append of the owner',
      );
      await holdsEvents(context.store, [late]);
    },
  },
  {
    name: 'stopped-past-its-lease',
    rule: 6,
    title:
      'a process that is stopped past its lease loses the dispatch, and writes nothing to it when it continues',
    needs,
    run: async (context) => {
      const { store } = context;
      const leaseMs = leaseOf(context);
      await prepareFree(context);
      const child = await startProcess(context);
      const own = sampleEvents(5, 'of-the-old-owner');
      await child.call('claimDispatch', taskDir, dispatchId);
      for (const event of own)
        sameContent(
          codeOf(await child.call('appendEvent', taskDir, dispatchId, event)),
          null,
          'an append of the owner',
        );
      child.signal('SIGSTOP');
      // Wait in its input, so that they are its first steps when it continues.
      const writes = [
        ['appendEvent', sampleEvent('too-late')],
        ['appendEvents', sampleEvents(3, 'too-late')],
        ['updateDispatch', { cost: 1 }],
        ['appendEvent', own[4]],
      ] as const;
      for (const [method, argument] of writes) child.send({ method, args: [taskDir, dispatchId, argument] });
      const waited = await untilTaken(leaseMs, () => claim(store));
      assert.ok(
        waited >= leaseMs * 0.9,
        `the claim was free after ${Math.round(waited)} ms, before the lease of ${leaseMs} ms`,
      );
      const first = sampleEvent('of-the-new-owner');
      await store.appendEvent(taskDir, dispatchId, first);
      child.signal('SIGCONT');
      for (const [method] of writes)
        sameContent(codeOf(await child.next()), 'STORE_LOCKED', `${method} of the process that continued`);
      sameContent(
        codeOf(await child.call('claimDispatch', taskDir, dispatchId)),
        'STORE_LOCKED',
        'claimDispatch of the process that continued',
      );
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(store, [...own, first, late]);
      await store.releaseDispatch(taskDir, dispatchId);
      sameContent(
        codeOf(await child.call('claimDispatch', taskDir, dispatchId)),
        null,
        'an explicit claim later',
      );
      sameContent(
        codeOf(await child.call('appendEvent', taskDir, dispatchId, sampleEvent('again'))),
        null,
        'an append after it',
      );
      await holdsEvents(store, [...own, first, late, sampleEvent('again')]);
    },
  },
  {
    name: 'stopped-and-rewritten',
    rule: 6,
    title:
      'a rewrite takes the dispatch of a process that is stopped past its lease, which changes nothing when it continues',
    needs: [...needs, 'rewrite'],
    run: async (context) => {
      const { store } = context;
      const child = await stoppedOwner(context);
      const rewrite = optionalMethod(store, 'rewriteDispatch');
      const [first, notice] = [sampleEvent('of-the-owner', 'censored'), sampleEvent('notice')];
      await untilTaken(leaseOf(context), async () => {
        await rewrite(taskDir, dispatchId, {
          envelope: (envelope) => envelope,
          event: () => first,
          notice: () => notice,
        });
      });
      const envelope = await store.getDispatchEnvelope(taskDir, dispatchId);
      for (const [method, code] of await continued(child))
        sameContent(code, 'STORE_LOCKED', `${method} of the process that continued`);
      await holdsEvents(store, [first, notice]);
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), envelope, 'getDispatchEnvelope');
      await claim(store);
      await store.appendEvent(taskDir, dispatchId, late);
      await holdsEvents(store, [first, notice, late]);
    },
  },
  {
    name: 'stopped-and-deleted',
    rule: 6,
    title:
      'a dispatch of a process that is stopped past its lease can be deleted, and stays deleted when that process continues',
    needs: [...needs, 'deleteDispatch'],
    run: async (context) => {
      const { store } = context;
      const child = await stoppedOwner(context);
      const remove = optionalMethod(store, 'deleteDispatch');
      await untilTaken(leaseOf(context), async () => remove(taskDir, dispatchId));
      for (const [method, code] of await continued(child))
        assert.ok(
          code === 'STORE_LOCKED' || code === 'STORE_DISPATCH_NOT_FOUND',
          `${method} of the process that continued: ${code}`,
        );
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), null, 'getDispatchEnvelope');
      sameContent((await store.listDispatches()).dispatches, [], 'listDispatches');
    },
  },
  {
    name: 'another-namespace',
    rule: 6,
    title: 'a process in another PID namespace takes nothing from a running writer, which loses no event',
    needs,
    run: async (context) => {
      const prefix = inAnotherNamespace();
      await prepareFree(context);
      const writer = await startWriter(context, 100);
      await writer.acknowledge(2);
      const other = await startProcess(context, prefix);
      for (let turn = 0; turn < 5; turn += 1) {
        const reply = await other.call('claimDispatch', taskDir, dispatchId);
        sameContent(codeOf(reply), 'STORE_LOCKED', 'claimDispatch in another namespace');
        await writer.acknowledge(3);
      }
      const acknowledged = Math.max(17, await writer.kill());
      await holdsBatches(context.store, [], { prefix: 'writer', textLength: 100, acknowledged });
    },
  },
]);

/** A process that has claimed the dispatch and appended an event to it, and is stopped. Writes wait in its input. */
async function stoppedOwner(context: CaseContext): Promise<StoreProcess> {
  await prepareFree(context);
  const child = await startProcess(context);
  await child.call('claimDispatch', taskDir, dispatchId);
  const own = sampleEvent('of-the-owner');
  sameContent(
    codeOf(await child.call('appendEvent', taskDir, dispatchId, own)),
    null,
    'an append of the owner',
  );
  child.signal('SIGSTOP');
  for (const [method, argument] of lateWrites) child.send({ method, args: [taskDir, dispatchId, argument] });
  return child;
}

/** The last one makes the envelope much longer. */
const lateWrites = [
  ['appendEvent', sampleEvent('too-late')],
  ['updateDispatch', { cost: 1 }],
  ['appendEvents', sampleEvents(3, 'too-late')],
  ['updateDispatch', { structuredResult: 'x'.repeat(20_000) }],
] as const;

/** Continues a process of `stoppedOwner`. Returns the method and the code of each of its writes. */
async function continued(child: StoreProcess): Promise<(readonly [method: string, code: string | null])[]> {
  child.signal('SIGCONT');
  const codes = [];
  for (const [method] of lateWrites) codes.push([method, codeOf(await child.next())] as const);
  return codes;
}

/** Tries until the dispatch is taken. Returns the time from the first attempt, which must be refused, in milliseconds. */
async function untilTaken(leaseMs: number, take: () => Promise<unknown>): Promise<number> {
  await refuses('STORE_LOCKED', 'the first attempt beside a stopped process', take);
  const start = performance.now();
  for (;;) {
    await setTimeout(leaseMs / 10);
    try {
      await take();
      return performance.now() - start;
    } catch (error) {
      const waited = performance.now() - start;
      if (!storeErrors.is(error, 'STORE_LOCKED') || waited > 5 * leaseMs + 3_000) throw error;
    }
  }
}

/** Processes that take a dispatch from each other as fast as they can. */
export const racingCases = caseFamily('processes', [
  {
    name: 'racing-writers',
    rule: 6,
    title:
      'three processes that claim, append and release as fast as they can have each acknowledged batch in the log, once and whole',
    needs: ['durability', 'writers'],
    run: (context) => raceForDispatch(context, 40),
  },
]);

/** Three processes race for one dispatch. The log must consist of the batches that each has acknowledged, in the order of each. */
export async function raceForDispatch(context: CaseContext, attempts: number): Promise<void> {
  await prepareFree(context);
  const prefixes = ['a', 'b', 'c'];
  const writers = await Promise.all(prefixes.map(() => startProcess(context)));
  const outcomes = await Promise.all(
    writers.map((writer, index) => writer.race([taskDir, dispatchId], `${prefixes[index]}`, attempts)),
  );
  for (const { unclaimed } of outcomes)
    assert.equal(unclaimed, 0, `${unclaimed} appends succeeded after a claim that was refused`);
  const waiting = new Map(prefixes.map((prefix, index) => [prefix, [...(outcomes[index]?.appended ?? [])]]));
  const events = await context.store.getDispatchEvents(taskDir, dispatchId);
  assert.ok(events.length > 0, 'none of the processes could append');
  for (let at = 0; at < events.length; ) {
    const prefix = `${events[at]?.id.split('-')[0]}`;
    const index = waiting.get(prefix)?.shift();
    assert.ok(index !== undefined, `event ${at}, ${events[at]?.id}, was acknowledged by no process`);
    const batch = batchEvents({ prefix, index, textLength: 10 });
    sameContent(events.slice(at, at + batch.length), batch, `the events from position ${at}`);
    at += batch.length;
  }
  for (const [prefix, left] of waiting)
    assert.equal(
      left.length,
      0,
      `${left.length} acknowledged batches of process ${prefix} are not in the log`,
    );
}

import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { CapturedEvent } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import { dispatchId, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent } from '../../checks/sample-data.ts';
import { chooseSeed, createRandom } from '../../model/random.ts';
import { startProcess, withSmallDisk } from '../../processes/store-process.ts';
import { caseFamily, skipCase } from '../../run/conformance-case.ts';
import { holdsBatches, prepareClosed } from './other-process.ts';

const needs = ['durability'] as const;

/** A process is killed with SIGKILL, or meets a full disk, while it writes. */
export const killedCases = caseFamily('killed', [
  {
    name: 'while-appending',
    rule: 7,
    title:
      'a process that is killed while it appends loses nothing that it acknowledged, and no batch is half stored',
    needs,
    run: async (context) => {
      await prepareClosed(context);
      const random = createRandom(chooseSeed(context.seed));
      let events: readonly CapturedEvent[] = [];
      for (const [round, textLength] of [10, 2_000, 30_000, 10, 30_000].entries()) {
        const child = await startProcess(context);
        await child.call('claimDispatch', taskDir, dispatchId);
        const prefix = `round-${round}`;
        child.send({ appendTo: [taskDir, dispatchId], prefix, textLength });
        const awaited = 1 + random.below(6);
        await child.acknowledge(awaited);
        // Anywhere in one of the next appends.
        await setTimeout(random.below(30));
        const acknowledged = Math.max(awaited, await child.kill());
        const store = await context.reopen();
        const stored = await holdsBatches(store, events, { prefix, textLength, acknowledged });
        const repairs = (await store.getRepairs?.()) ?? [];
        for (const { dispatchId: repaired, removedBytes } of repairs)
          assert.ok(
            repaired === dispatchId && removedBytes > 0,
            `a repair of ${repaired} removed ${removedBytes} bytes`,
          );
        await store.claimDispatch(taskDir, dispatchId);
        const next = sampleEvent(`after-${prefix}`);
        await store.appendEvent(taskDir, dispatchId, next);
        events = [...stored, next];
        await store.close();
      }
    },
  },
  {
    name: 'while-updating',
    rule: 7,
    title:
      'a process that is killed while it changes an envelope leaves the last acknowledged one or a later one',
    needs,
    run: async (context) => {
      await prepareClosed(context);
      const random = createRandom(chooseSeed(context.seed));
      for (let round = 0; round < 3; round += 1) {
        const child = await startProcess(context);
        await child.call('claimDispatch', taskDir, dispatchId);
        const updates = Array.from({ length: 60 }, (_, index) => ({
          cost: round * 100 + index,
          structuredResult: `${round * 100 + index} `.repeat(1 + (index % 7) * 400),
        }));
        for (const update of updates)
          child.send({ method: 'updateDispatch', args: [taskDir, dispatchId, update] });
        const awaited = 1 + random.below(50);
        for (let count = 0; count < awaited; count += 1) {
          const reply = await child.next();
          assert.ok(reply !== null && 'answer' in reply, `an update failed: ${JSON.stringify(reply)}`);
        }
        await setTimeout(random.below(10));
        await child.kill();
        const store = await context.reopen();
        const envelope = await store.getDispatchEnvelope(taskDir, dispatchId);
        const cost = Number(envelope?.cost);
        assert.ok(
          cost >= round * 100 + awaited - 1,
          `the cost is ${cost} after ${awaited} updates of round ${round}`,
        );
        sameContent(
          envelope,
          { ...prepared.envelope, ...updates[cost - round * 100] },
          'getDispatchEnvelope',
        );
        await store.close();
      }
    },
  },
  {
    name: 'while-creating',
    rule: 7,
    title:
      'a process that is killed while it creates dispatches leaves every acknowledged one, and a list that can be read',
    needs,
    run: async (context) => {
      await prepareClosed(context);
      const child = await startProcess(context);
      const created = Array.from({ length: 200 }, (_, index) =>
        sampleEnvelope(`D${String(index).padStart(3, '0')}`),
      );
      for (const envelope of created) child.send({ method: 'createDispatch', args: [taskDir, envelope] });
      for (let count = 0; count < 25; count += 1) {
        const reply = await child.next();
        assert.ok(reply !== null && 'answer' in reply, `a creation failed: ${JSON.stringify(reply)}`);
      }
      await child.kill();
      const store = await context.reopen();
      const listed = await store.getDispatchEnvelopes(taskDir);
      const count = listed.length - 1;
      assert.ok(count >= 25, `${count} dispatches are listed after 25 were acknowledged`);
      sameContent(listed, [prepared.envelope, ...created.slice(0, count)], 'getDispatchEnvelopes');
      const next = sampleEnvelope('NEXT');
      await store.createDispatch(taskDir, next);
      await store.appendEvent(taskDir, next.dispatchId, sampleEvent('next'));
    },
  },
  {
    name: 'claim-is-free',
    rule: 6,
    title: 'the claim of a process that was killed is free at once, and the dispatch is still running',
    needs: ['durability', 'writers'],
    run: async (context) => {
      const { store } = context;
      await store.putTask(taskDir, prepared.task);
      const child = await startProcess(context);
      await child.call('createDispatch', taskDir, prepared.envelope);
      await child.kill();
      const { envelope } = await store.claimDispatch(taskDir, dispatchId);
      sameContent(envelope, prepared.envelope, 'the envelope of claimDispatch');
      await store.appendEvent(taskDir, dispatchId, sampleEvent('next'));
    },
  },
  {
    name: 'full-disk',
    rule: 7,
    title:
      'an append to a full disk is STORE_UNAVAILABLE and stores nothing, and all acknowledged events remain',
    needs,
    run: async (context) => {
      if (context.hasServer) skipCase('a server keeps the data, and not the disk of a process');
      await prepareClosed(context);
      const child = await startProcess(context, withSmallDisk(4_000));
      const claimed = await child.call('claimDispatch', taskDir, dispatchId);
      assert.ok(claimed !== null && 'answer' in claimed, `claimDispatch failed: ${JSON.stringify(claimed)}`);
      child.send({ appendTo: [taskDir, dispatchId], prefix: 'full', textLength: 50_000 });
      let acknowledged = 0;
      let reply = await child.next();
      for (; reply !== null && 'acknowledged' in reply; reply = await child.next())
        acknowledged = reply.acknowledged + 1;
      sameContent(
        reply !== null && 'error' in reply && reply.error,
        'STORE_UNAVAILABLE',
        'the code of the refused append',
      );
      await child.kill();
      const store = await context.reopen();
      const stored = await holdsBatches(store, [], { prefix: 'full', textLength: 50_000, acknowledged });
      await store.claimDispatch(taskDir, dispatchId);
      await store.appendEvent(taskDir, dispatchId, sampleEvent('next'));
      sameContent(
        (await store.readEvents(taskDir, dispatchId, { last: 0 })).first,
        stored.length + 1,
        'the number of events',
      );
    },
  },
]);

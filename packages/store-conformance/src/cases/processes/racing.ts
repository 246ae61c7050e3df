import assert from 'node:assert/strict';
import { sameContent } from '../../checks/expectations.ts';
import { dispatchId, taskDir } from '../../checks/prepared-store.ts';
import { batchEvents } from '../../processes/serve-store.ts';
import { startProcess } from '../../processes/store-process.ts';
import type { CaseContext } from '../../run/case-context.ts';
import { caseFamily } from '../../run/conformance-case.ts';
import { prepareFree } from './batches.ts';

/** Processes that take a dispatch from each other as fast as they can. */
export const racingCases = caseFamily('processes', [
  {
    name: 'racing-writers',
    rule: 6,
    title:
      'three processes that claim, append and release as fast as they can have each acknowledged batch in the log, once and whole',
    needs: ['durability', 'writers'],
    run: (context) => raceForDispatch(context, 150),
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

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CapturedEvent, isEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { randomFrom } from '@hansard/testing';
import { expect, it, onTestFinished } from 'vitest';
import { callToTheEnd } from './call-to-the-end.ts';
import { commandCalls } from './command-calls.ts';
import { recordStore, task } from './recorded-store.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));
const taskDir = task.replace('/', '/tasks/');

/** What a person or another program could have written instead of a value. */
const strangers = [null, 5, -1, true, 'x', [], {}, [null], { text: 5 }];

/** How many malformed events of each type a dispatch gets. */
const most = 8;

/** Copies of an event, each with another value in the place of one of its data, or without it, so that it is not an event. */
function malformed(event: CapturedEvent, random: () => number): CapturedEvent[] {
  const data = event.data as Record<string, unknown>;
  const changed = Object.keys(data)
    .flatMap((key) => [
      ...strangers.map((stranger) => ({ ...data, [key]: stranger })),
      Object.fromEntries(Object.entries(data).filter(([other]) => other !== key)),
    ])
    .map((value) => ({ value, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ value }) => value);
  // An event without any data is always among them.
  return [{}, ...changed]
    .map((value, at) => ({ ...event, id: `malformed-${at}`, data: value }) as CapturedEvent)
    .filter((copy) => !isEvent(copy))
    .slice(0, most);
}

it(`events of a wrong shape are STORE_CORRUPT with their place, or harmless, in every command (HANSARD_SEED=${seed})`, {
  timeout: 300_000,
}, async () => {
  const recorded = await recordStore({});
  using line = recorded.line;
  const { latest } = recorded;
  const calls = (await commandCalls(recorded)).filter(
    ({ args, isOfSibling }) => !isOfSibling && !['demo', 'run', 'import', 'chat'].includes(String(args[0])),
  );
  const source = openJsonFileStore({ root: join(line.cwd, '.projects') });
  const events = source.getDispatchEvents(taskDir, latest.dispatchId);
  source.close();
  const ofEachType = [...new Map(events.map((event) => [event.type, event])).values()];
  const folder = mkdtempSync(join(tmpdir(), 'hansard-malformed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const place = expect.stringMatching(
    `STORE_CORRUPT: Event ${events.length} of dispatch ${latest.dispatchId} `,
  );
  let reported = 0;
  const random = randomFrom(seed);
  for (const [at, event] of ofEachType.entries()) {
    const stored = malformed(event, random);
    if (stored.length === 0) continue;
    const cwd = join(folder, String(at));
    cpSync(line.cwd, cwd, { recursive: true });
    const store = openJsonFileStore({ root: join(cwd, '.projects') });
    store.claimDispatch(taskDir, latest.dispatchId);
    store.appendEvents(taskDir, latest.dispatchId, stored);
    store.close();
    for (const { args } of calls) {
      const { code, out, err } = await callToTheEnd(cwd, args);
      const call = [args.join(' '), JSON.stringify(stored), err];
      expect([...call, code]).toEqual([...call, expect.toBeOneOf([0, 1, 3])]);
      expect(call).toEqual([call[0], call[1], expect.not.stringMatching(/unexpected:/)]);
      if (code === 3) expect(call).toEqual([call[0], call[1], place]);
      if (args.includes('--damaged')) {
        expect([...call, code]).toEqual([...call, 0]);
        expect(out).toContain('the stored event is not an event');
      }
      reported += code === 3 ? 1 : 0;
    }
  }
  expect(reported).toBeGreaterThan(0);
});

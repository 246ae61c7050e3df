import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DispatchStore } from '@hansard/dispatch';
import { openSession } from '@hansard/session';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { describe, expect, it, onTestFinished } from 'vitest';
import { letterStores, openLetterStore } from './letter-store.ts';
import { dispatchId, prepare, taskDir } from './prepare.ts';
import { answers, says } from './scripted.ts';

const place = { taskDir, dispatchId };

/** A generator that a seed repeats. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function started(script: string, args: readonly string[]) {
  const file = join(import.meta.dirname, script);
  const child = spawn(process.execPath, ['--conditions=@hansard/source', file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const over = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await over;
  };
  onTestFinished(kill);
  return { child, lines, kill };
}

/** The owner in a process of its own, when it has the session. */
async function owner(...args: readonly string[]) {
  const { lines, kill } = started('take-letters.ts', args);
  await lines.next();
  return kill;
}

/** A sender of a process of its own that is killed while it sends. @returns how many letters were acknowledged */
async function killedSender(args: readonly string[], wanted: number, killedAfter: number): Promise<number> {
  const { child, lines, kill } = started('send-letters.ts', args);
  await lines.next();
  child.stdin.write('\n'.repeat(wanted));
  let acknowledged = 0;
  while (acknowledged < killedAfter) {
    await lines.next();
    acknowledged += 1;
  }
  await kill();
  // What it has acknowledged before its end.
  while (!(await lines.next()).done) acknowledged += 1;
  return acknowledged;
}

const textsOf = async (store: DispatchStore): Promise<string[]> =>
  (await store.getDispatchEvents(taskDir, dispatchId)).flatMap(({ type, data }) =>
    type === 'user:message' ? [String(data.text)] : [],
  );

const server = useServer();
const senders = [0, 1, 2];
const rounds = 2;
/** More than the letters that a sender sends before it is killed. */
const wanted = 60;

describe('letters to a session', () => {
  it.each(letterStores)(
    'are in the log exactly once and in the order of their sender, however often owners and senders are killed (%s)',
    { timeout: 400_000 },
    async (kind) => {
      const seed = Date.now() % 1_000_000;
      const random = randomOf(seed);
      const root = mkdtempSync(join(tmpdir(), 'hansard-letters-'));
      onTestFinished(() => rmSync(root, { recursive: true }));
      const places = { jsonfile: root, sqlite: join(root, 'log.db'), postgres: `${server().url()} letters` };
      const args = [kind, places[kind], taskDir, dispatchId];
      let kill = await owner(...args);
      const acknowledged = senders.map((): string[] => []);
      for (let round = 0; round < rounds; round += 1) {
        const sending = senders.map(async (sender) => {
          const first = round * wanted;
          const killedAfter = 1 + random(30);
          const count = await killedSender([...args, `${sender}`, `${first}`], wanted, killedAfter);
          for (let number = first; number < first + count; number += 1)
            acknowledged[sender]?.push(`sender ${sender}, letter ${number}`);
        });
        await Promise.race(sending);
        await kill();
        await Promise.all(sending);
        kill = await owner(...args);
      }
      await kill();
      await using store = await openLetterStore(kind, places[kind]);
      const session = await openSession({
        ...{ store, taskDir, dispatchId, model: answers(), expect: 'existing' },
        wait: { waitMs: 60_000 },
      });
      await session.close();
      const texts = await textsOf(store);
      expect(new Set(texts).size, `seed ${seed}`).toBe(texts.length);
      for (const [sender, own] of acknowledged.entries()) {
        const taken = texts.filter((text) => text.startsWith(`sender ${sender},`));
        const numbers = taken.map((text) => Number(text.split(' ').at(-1)));
        expect(numbers, `seed ${seed}`).toEqual(numbers.toSorted((one, other) => one - other));
        expect(taken, `seed ${seed}`).toEqual(expect.arrayContaining(own));
        // A killed sender can have written one more letter than it has acknowledged, whole or not at all.
        expect(taken.length - own.length, `seed ${seed}`).toBeLessThanOrEqual(rounds);
        expect(own.length).toBeGreaterThanOrEqual(rounds);
      }
      let stored = 0;
      for await (const { letter, error } of store.readLetters(place)) {
        expect(error).toBeNull();
        if (letter !== null) expect(await store.findLetter(place, letter)).toBe('taken');
        stored += 1;
      }
      expect(stored, `seed ${seed}`).toBe(texts.length);
    },
  );

  it('are taken while the session lives, by the agent that is named or the root, and abort it', async () => {
    const { store, create } = prepare();
    const { session, root } = await create({ model: answers(says('Here.')) });
    const jill = await session.createAgent({ name: 'Jill' });
    const toRoot = await store.sendLetter(place, { text: 'Where are you?' });
    const toJill = await store.sendLetter(place, { text: 'Come in.', agentId: jill.agentId });
    const { value } = await session.messages[Symbol.asyncIterator]().next();
    expect(value).toMatchObject({
      id: toRoot.from,
      data: { text: 'Where are you?', source: { kind: 'user' } },
    });
    expect(String(await root.response())).toBe('Here.');
    const stop = await store.sendLetter(place, { abort: true, text: 'enough' });
    await new Promise((resolve) => session.signal.addEventListener('abort', resolve));
    await session.close();
    for (const letter of [toRoot, toJill, stop]) expect(await store.findLetter(place, letter)).toBe('taken');
    const events = await store.getDispatchEvents(taskDir, dispatchId);
    expect(events.find(({ id }) => id === toJill.from)?.agentId).toBe(jill.agentId);
    expect(events.find(({ id }) => id === stop.from)).toMatchObject({
      type: 'harness:abort',
      data: { reason: 'enough', by: 'user' },
    });
  });

  it('wait for an agent that does not exist until the session ends, which looks once more and then refuses them', async () => {
    const { store, create, load } = prepare();
    const { session } = await create();
    const ghost = await store.sendLetter(place, { text: 'Anyone?', agentId: 'agent_999' });
    expect(await store.findLetter(place, ghost)).toBe('waiting');
    // Nobody looks between this and the end.
    const last = await store.sendLetter(place, { text: 'Before you go.' });
    await session.close();
    expect(await store.findLetter(place, ghost)).toBe('refused');
    expect(await store.findLetter(place, last)).toBe('taken');
    await expect(store.sendLetter(place, { text: 'Too late.' })).rejects.toMatchObject({
      code: 'DISPATCH_LETTER_REFUSED',
    });
    const again = await load();
    await expect(store.sendLetter(place, { text: ' ' })).rejects.toMatchObject({
      code: 'DISPATCH_LETTER_REFUSED',
    });
    await again.session.close();
  });
});

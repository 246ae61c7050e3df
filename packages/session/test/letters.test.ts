import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openSqliteStore } from '@hansard/store-sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
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

/** The owner in a process of its own, when it has the session. */
async function owner(kind: string, path: string) {
  const script = join(import.meta.dirname, 'take-letters.ts');
  const args = ['--conditions=@hansard/source', script, kind, path, taskDir, dispatchId];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return async () => {
    const over = once(child, 'exit');
    child.kill('SIGKILL');
    await over;
  };
}

const textsOf = async (store: DispatchStore): Promise<string[]> =>
  (await store.getDispatchEvents(taskDir, dispatchId)).flatMap(({ type, data }) =>
    type === 'user:message' ? [String(data.text)] : [],
  );

describe('letters to a session', () => {
  it.each(['jsonfile', 'sqlite'] as const)(
    'are in the log exactly once and in the order of their sender, however often the owner is killed (%s)',
    { timeout: 240_000 },
    async (kind) => {
      const seed = Date.now() % 1_000_000;
      const random = randomOf(seed);
      const root = mkdtempSync(join(tmpdir(), 'hansard-letters-'));
      onTestFinished(() => rmSync(root, { recursive: true }));
      const path = kind === 'sqlite' ? join(root, 'log.db') : root;
      const open = () =>
        openDispatchStore(kind === 'sqlite' ? openSqliteStore({ path }) : openJsonFileStore({ root: path }));
      let kill = await owner(kind, path);
      const sent: string[][] = [];
      for (let round = 0; round < 6; round += 1) {
        const senders = Array.from({ length: 3 }, async (_, sender) => {
          await using store = open();
          for (let number = 0; number < 5 + random(10); number += 1) {
            const text = `sender ${sender}, letter ${round}.${number}`;
            await store.sendLetter(place, { text });
            sent[sender] = [...(sent[sender] ?? []), text];
            await new Promise((resolve) => setImmediate(resolve));
          }
        });
        for (let turns = random(400); turns > 0; turns -= 1)
          await new Promise((resolve) => setImmediate(resolve));
        await kill();
        await Promise.all(senders);
        kill = await owner(kind, path);
      }
      await kill();
      await using store = open();
      const session = await openSession({ store, ...place, model: answers(), expect: 'existing' });
      await session.close();
      const texts = await textsOf(store);
      expect(texts.toSorted(), `seed ${seed}`).toEqual(sent.flat().toSorted());
      for (const [sender, own] of sent.entries())
        expect(
          texts.filter((text) => text.startsWith(`sender ${sender},`)),
          `seed ${seed}`,
        ).toEqual(own);
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

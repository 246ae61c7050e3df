import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openDispatchStore, startDispatch } from '@hansard/dispatch';
import { type AgentProvider, type DispatchStoreProvider, isHansardError } from '@hansard/provider';
import { openSession } from '@hansard/session';
import { openPostgresStore } from '@hansard/store-postgres';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { commandLine } from './command-line.ts';

const server = useServer();
const taskDir = 'lab/tasks/route-models';
const words = Array.from({ length: 8 }, (_, at) => `word ${at}`);
/** Before this word the server is killed. */
const outageAt = 4;

/** The store of a test, and a promise of its first failed call. */
async function storeOf(schema: string, onFailure: (error: unknown) => void): Promise<DispatchStoreProvider> {
  const store = await openPostgresStore({ url: server().url(), schema, connectTimeout: 1_000 });
  onTestFinished(() => store.close());
  return new Proxy(store, {
    get(target, key) {
      const member = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        const answer: unknown = member.apply(target, given);
        if (answer instanceof Promise) answer.catch(onFailure);
        return answer;
      };
    },
  });
}

/** Starts the server at the first call that it does not answer, or never; `restarted` is the start. */
function restartingOnFailure(isShort: boolean) {
  let restarted: Promise<void> | null = null;
  return {
    onFailure: (error: unknown) => {
      if (isShort && isHansardError(error) && error.isTransient) restarted ??= server().start();
    },
    get restarted() {
      return restarted;
    },
  };
}

/** Which of the words a dispatch has, in its order, as another opening reads it after the outage. */
async function textsIn(schema: string, dispatchId: string) {
  await using store = await openPostgresStore({ url: server().url(), schema });
  const events = await store.getDispatchEvents(taskDir, dispatchId);
  const damages = (await store.verifyDispatch(taskDir, dispatchId)).damages;
  const envelope = await store.getDispatchEnvelope(taskDir, dispatchId);
  const texts = events
    .map(({ data: { text, content } }) => String(text ?? content))
    .filter((text) => words.includes(text));
  return { texts, damages, status: envelope?.status };
}

async function runThrough(schema: string, { isShort, retryMs }: { isShort: boolean; retryMs: number }) {
  const restart = restartingOnFailure(isShort);
  const store = openDispatchStore(await storeOf(schema, restart.onFailure), { retryMs });
  const agent: AgentProvider = {
    contract: 1,
    async *run() {
      for (const [at, text] of words.entries()) {
        if (at === outageAt) await server().kill();
        yield { kind: 'event', event: { type: 'agent:text', data: { text } } };
      }
    },
  };
  const run = await startDispatch({ store, taskDir, role: 'worker', agent, prompt: 'Go' });
  const outcome = await run.ended.catch((error: unknown) => error);
  await (restart.restarted ?? server().start());
  return { outcome, wasAway: restart.restarted !== null, ...(await textsIn(schema, run.dispatchId)) };
}

async function sessionThrough(schema: string, { isShort, retryMs }: { isShort: boolean; retryMs: number }) {
  const restart = restartingOnFailure(isShort);
  const store = openDispatchStore(await storeOf(schema, restart.onFailure), { retryMs });
  const dispatchId = 'D1';
  const model = { contract: 1 as const, generate: () => Promise.reject(new Error('No model is called.')) };
  const session = await openSession({ store, taskDir, dispatchId, model });
  const say = (some: readonly string[]) => {
    for (const content of some) session.logTranscriptEntry('agent_001', { role: 'user', content });
    return session.flushed();
  };
  await say(words.slice(0, outageAt));
  await server().kill();
  const error = await say(words.slice(outageAt)).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  await (restart.restarted ?? server().start());
  if (error === null) await session.complete('completed', 'Done.');
  return { error, wasAway: restart.restarted !== null, ...(await textsIn(schema, dispatchId)) };
}

describe('after a kill and a restart of the database', () => {
  it('a run continues, and its log has every event in order', async () => {
    expect(await runThrough('short_run', { isShort: true, retryMs: 20_000 })).toMatchObject({
      outcome: { status: 'completed' },
      wasAway: true,
      texts: words,
      damages: [],
      status: 'completed',
    });
  });

  it('a session continues, and its log has every event in order', async () => {
    const found = await sessionThrough('short_session', { isShort: true, retryMs: 20_000 });
    const expected = { error: null, wasAway: true, texts: words, damages: [], status: 'completed' };
    expect(found).toMatchObject(expected);
  });

  it('`hansard run` says so and continues, with the time that it allows by default', async () => {
    const awayMs = 2_000;
    using line = commandLine();
    mkdirSync(join(line.cwd, 'talker'));
    const write = (name: string, text: string) => writeFileSync(join(line.cwd, name), text);
    const manifest = { id: 'talker', provides: 'AgentProvider', entry: './index.mjs', apiVersion: 1 };
    write('talker/plugin.json', JSON.stringify(manifest));
    write(
      'talker/index.mjs',
      `export default { id: 'talker', provides: 'AgentProvider', create: () => ({ contract: 1, async *run() {
        for (const text of ${JSON.stringify(words)}) {
          await globalThis.hansardTestBefore(text);
          yield { kind: 'event', event: { type: 'agent:text', data: { text } } };
        }
      } }) };`,
    );
    const store = {
      plugin: '@hansard/store-postgres',
      config: { url: server().url(), schema: 'short_command' },
    };
    write('hansard.config.json', JSON.stringify({ communication: [], store, plugins: ['./talker'] }));
    let restarted: Promise<void> | undefined;
    vi.stubGlobal('hansardTestBefore', async (text: string) => {
      // The store answers again when no call is repeated any more: the longest pause between two tries is two seconds.
      if (text === words[outageAt + 1]) await setTimeout(awayMs + 2_500);
      if (text !== words[outageAt]) return;
      await server().kill();
      restarted = setTimeout(awayMs).then(() => server().start());
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    const answer = await line.hansard(
      'run',
      '--agent',
      'talker',
      '--task',
      'lab/route-models',
      'Go',
      '--json',
    );
    await restarted;
    expect(answer).toMatchObject({ code: 0 });
    const [away, repeated, back] = answer.err.split('\n');
    expect(away).toMatch(/^hansard: the store does not answer: STORE_UNAVAILABLE: /);
    expect(repeated).toBe('  Each call is repeated for 30 s.');
    const seconds = /^hansard: the store answers again, after (\d+\.\d) s\.$/.exec(back ?? '')?.[1];
    expect(Number(seconds), answer.err).toBeGreaterThanOrEqual(awayMs / 1_000 - 0.2);
    const [{ dispatchId }] = answer.json() as [{ dispatchId: string }];
    expect(restarted).toBeDefined();
    expect(await textsIn('short_command', dispatchId)).toMatchObject({ texts: words, status: 'completed' });
  });
});

describe('while the database is away for longer than `retryMs`', () => {
  it('a run ends with the error of the store, and its log is whole up to the outage', async () => {
    const { outcome, texts, damages } = await runThrough('long_run', { isShort: false, retryMs: 400 });
    expect(outcome).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      isTransient: true,
      message: expect.stringMatching(/cannot be reached|ended the connection/),
      details: { triedMs: expect.any(Number) },
    });
    expect(texts).toEqual(words.slice(0, outageAt));
    expect(damages).toEqual([]);
  });

  it('a session ends with the error of the store, and its log is whole up to the outage', async () => {
    const { error, texts, damages } = await sessionThrough('long_session', { isShort: false, retryMs: 400 });
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { triedMs: expect.any(Number) } });
    expect(texts).toEqual(words.slice(0, outageAt));
    expect(damages).toEqual([]);
  });
});

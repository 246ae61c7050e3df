import { openDispatchStore } from '@hansard/dispatch';
import { openSession, type Session } from '@hansard/session';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { expectAgreement } from './expect-agreement.ts';
import { sessionOptions } from './scripted-session.ts';
import { logsOf } from './spending-oracle.ts';

const taskDir = 'cafe/tasks/first-meeting';
const seed = Number(process.env.HANSARD_SEED ?? 12);
const rounds = 6;

type End = (session: Session, signal: AbortController) => Promise<void>;

const ends: readonly [name: string, status: string, end: End][] = [
  ['was completed', 'completed', (session) => session.complete('completed', 'Done.')],
  ['failed', 'crashed', (session) => session.complete('failed')],
  ['was aborted', 'aborted', (session) => session.complete('aborted')],
  ['was closed', 'completed', (session) => session.close()],
  ['was left at the end of its scope', 'completed', (session) => session[Symbol.asyncDispose]()],
  [
    'was closed after its signal',
    'aborted',
    async (session, signal) => {
      signal.abort();
      await session.close();
    },
  ],
  [
    'was closed after a model call that failed',
    'completed',
    async (session) => {
      await session.root.harken('Please fail.');
      await expect(session.root.response()).rejects.toMatchObject({ code: 'SESSION_MODEL_FAILED' });
      await session.close();
    },
  ],
  [
    'lost an agent while it was asked',
    'completed',
    async (session) => {
      const { agentId } = await session.createAgent({ name: 'Jack' });
      const jack = await session.getAgent(agentId);
      await jack.harken('Are you there?');
      const response = jack.response();
      await session.terminateAgent(agentId);
      await expect(response).rejects.toMatchObject({ code: 'SESSION_AGENT_TERMINATED' });
      await session.close();
    },
  ],
];

async function ask(session: Session): Promise<void> {
  await session.root.harken('What do we do?');
  await session.root.response();
}

describe('what a session spent, by the envelope, the tree, the view and the trace', () => {
  it.each(ends)(
    'is what the events add up to after it %s, and again after it was resumed',
    async (_, status, end) => {
      const random = randomFrom(seed);
      const store = openDispatchStore(createMemoryStore());
      for (let round = 0; round < rounds; round += 1) {
        const where = `HANSARD_SEED=${seed}, round ${round}`;
        const signal = new AbortController();
        const options = sessionOptions(store, taskDir, `S${round}`, random);
        const session = await openSession({ ...options, signal: signal.signal });
        await ask(session);
        await end(session, signal);
        expect(await store.getDispatchEnvelope(taskDir, `S${round}`)).toMatchObject({ status });
        await expectAgreement(store, taskDir, where);
        const resumed = await openSession(options);
        await ask(resumed);
        await resumed.close();
        await expectAgreement(store, taskDir, `resumed, ${where}`);
      }
      const logs = await logsOf(store, taskDir);
      expect(logs).toHaveLength(rounds);
      // A resumed session has one total for each end, and calls of several agents.
      for (const { events, envelope } of logs) {
        expect(events.filter(({ type }) => type === 'session:complete')).toHaveLength(2);
        expect(envelope.usage?.inputTokens).toBeGreaterThan(0);
      }
    },
  );
});

import { openDispatchStore } from '@hansard/dispatch';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';

/** Ends a session, and is killed where it would complete the envelope: `session:complete` is in the log by then. */
const [, , root = '', taskDir = '', dispatchId = '', status = ''] = process.argv;

const provider = new Proxy(openJsonFileStore({ root }), {
  get(target, key) {
    if (key === 'updateDispatch') return () => process.kill(process.pid, 'SIGKILL');
    const member: unknown = Reflect.get(target, key, target);
    return typeof member === 'function' ? member.bind(target) : member;
  },
});

const session = await openSession({
  store: openDispatchStore(provider),
  taskDir,
  dispatchId,
  model: {
    contract: 1,
    generate: () => ({
      text: 'They met.',
      toolCalls: [],
      model: 'scripted-1',
      usage: { inputTokens: 10, outputTokens: 2 },
      costUsd: 0.5,
    }),
  },
});
const { root: agent } = session;
await agent.harken('Let them meet.');
const answer = await agent.response();
await session.complete(status === 'aborted' ? 'aborted' : 'completed', String(answer));

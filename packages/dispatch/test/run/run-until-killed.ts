import { openDispatchStore, startDispatch } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import type { AgentActivity, AgentProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';

/** Runs a dispatch, and is killed where it would complete the envelope: all events are in the log by then. */
const [, , root = '', taskDir = '', ending = ''] = process.argv;

const provider = new Proxy(openJsonFileStore({ root }), {
  get(target, key) {
    if (key === 'updateDispatch') return () => process.kill(process.pid, 'SIGKILL');
    const member: unknown = Reflect.get(target, key, target);
    return typeof member === 'function' ? member.bind(target) : member;
  },
});

const call = (inputTokens: number, costUsd: number, agentId?: string): AgentActivity => {
  const data = { model: 'm', usage: { inputTokens, outputTokens: 1 }, costUsd };
  return {
    kind: 'event',
    event: newEvent('agent:inference', data, agentId === undefined ? {} : { agentId }),
  };
};

const agent: AgentProvider = {
  contract: 1,
  async *run({ signal }) {
    yield { kind: 'event', event: newEvent('agent:text', { text: 'working' }) };
    if (ending === 'abort') {
      run.abort('wrong branch', 'product-analyst');
      signal.throwIfAborted();
    }
    if (ending === 'calls') {
      yield call(10, 0.25);
      yield call(100, 0.5, 'agent_002');
      process.kill(process.pid, 'SIGKILL');
    }
    if (ending === 'error') throw new Error('lost my way');
    yield {
      kind: 'event',
      event: newEvent('session:complete', {
        status: 'completed',
        costUsd: 0.25,
        usage: { inputTokens: 10, outputTokens: 2 },
        turns: 3,
        structuredResult: { route: 'north' },
      }),
    };
  },
};

const store = openDispatchStore(provider);
const run = await startDispatch({ store, taskDir, role: 'worker', dispatchId: 'D1', agent });
await run.ended;

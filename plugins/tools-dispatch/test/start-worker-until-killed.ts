import { openDispatchStore } from '@hansard/dispatch';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createDispatchTools } from '../src/index.ts';
import { lead, scout, taskDir } from './session-lead.ts';

/** A session whose agent starts a worker and waits for it. The process is killed while the worker works, or when it has ended. */
const [, , root = '', moment = ''] = process.argv;

const kill = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('not killed');
};

const store = openDispatchStore(openJsonFileStore({ root }));
const tools = createDispatchTools();
const { root: agent } = await openSession({
  store,
  taskDir,
  dispatchId: 'LEAD',
  model: lead(),
  tools: [
    {
      ...tools,
      callTool: async (call) => {
        const isWait = call.tool === 'await_dispatch';
        if (isWait && moment === 'working') kill();
        const outcome = await tools.callTool(call);
        // The worker has ended, and the result of the call is not recorded.
        return isWait ? kill() : outcome;
      },
    },
  ],
  workers: { agents: { scout: scout(() => moment === 'working' && new Promise(() => {})) } },
});
await agent.harken('What is in the north?');
await agent.response();

import { z } from 'zod';
import { dispatchTool } from './dispatch-tool.ts';
import { dispatchIdField, findWorker } from './find-worker.ts';
import { statusLine, workerMetadata } from './worker-text.ts';

export const abortDispatchTool = dispatchTool({
  name: 'abort_dispatch',
  description:
    'Stops one of your workers, with those that it started itself. One that has ended stays as it is.',
  input: z.strictObject({
    dispatch_id: dispatchIdField,
    reason: z.string().min(1).max(1_000).optional().describe('The reason, for the log.'),
  }),
  async run({ dispatch_id, reason }, host) {
    await findWorker(host, dispatch_id);
    const worker = await host.abortWorker(dispatch_id, reason);
    return { status: 'completed', text: statusLine(worker), metadata: workerMetadata(worker) };
  },
});

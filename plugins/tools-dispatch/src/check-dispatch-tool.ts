import { z } from 'zod';
import { dispatchTool } from './dispatch-tool.ts';
import { dispatchIdField, findWorker } from './find-worker.ts';
import { recentEventsText } from './recent-events-text.ts';
import { statusLine, workerMetadata } from './worker-text.ts';

/** About a thousand tokens in all: the answer must not fill the context of the caller. */
const limits = { perEvent: 300, inAll: 4_000 };

export const checkDispatchTool = dispatchTool({
  name: 'check_dispatch',
  description:
    'Reports the state of one of your workers: its status, its cost after its end, and its last events, shortened. To wait for its end use await_dispatch instead of repeated checks.',
  input: z.strictObject({
    dispatch_id: dispatchIdField,
    events: z.int().min(0).max(50).default(10).describe('The number of its last events to return, 0 to 50.'),
  }),
  async run({ dispatch_id, events: count }, host) {
    const worker = await findWorker(host, dispatch_id);
    const events = count === 0 ? [] : await host.getRecentEvents(dispatch_id, count);
    const recent =
      events.length === 0 ? [] : ['last events, quoted from its log:', recentEventsText(events, limits)];
    return {
      status: 'completed',
      text: [statusLine(worker), ...recent].join('\n'),
      metadata: workerMetadata(worker),
    };
  },
});

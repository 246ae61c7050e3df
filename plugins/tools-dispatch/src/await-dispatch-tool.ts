import type { DispatchEnvelope } from '@hansard/events';
import type { DispatchHost } from '@hansard/provider';
import { dispatchEnding } from '@hansard/views';
import { z } from 'zod';
import { cutText } from './cut-text.ts';
import { dispatchTool } from './dispatch-tool.ts';
import { dispatchIdField, findWorker } from './find-worker.ts';
import { statusLine, structuredResultLines, workerMetadata } from './worker-text.ts';

/** The most characters of results in all, some ten thousand tokens; several workers share it. */
const mostResultText = 40_000;

/** After its last text a worker may record costs, an abort or an error. */
const eventsWithResult = 20;

export const awaitDispatchTool = dispatchTool({
  name: 'await_dispatch',
  description:
    'Waits until workers of yours have ended, all that you name, and answers with the status, cost and result of each.',
  input: z.strictObject({
    dispatch_ids: z
      .union([dispatchIdField, z.array(dispatchIdField).min(1).max(50)])
      .describe('The dispatchId of one worker, or a list of up to 50.'),
  }),
  async run({ dispatch_ids }, host, { signal }) {
    const ids = [...new Set([dispatch_ids].flat())];
    for (const id of ids) await findWorker(host, id);
    const ended = await Promise.all(ids.map((id) => host.awaitWorker(id, signal)));
    const limit = Math.floor(mostResultText / ended.length);
    const texts = await Promise.all(ended.map((worker) => resultText(host, worker, limit)));
    const [only, ...more] = ended.map(workerMetadata);
    return {
      status: 'completed',
      text: texts.join('\n\n'),
      metadata: more.length === 0 && only !== undefined ? only : { dispatches: ended.map(workerMetadata) },
    };
  },
});

async function resultText(host: DispatchHost, worker: DispatchEnvelope, limit: number): Promise<string> {
  const events = await host.getRecentEvents(worker.dispatchId, eventsWithResult);
  const { result, lastText, trouble } = dispatchEnding(worker, events);
  const structured = structuredResultLines(worker, limit);
  const words = structured.length > 0 && worker.status === 'completed' ? null : (result ?? lastText);
  const said = words === null ? [] : [`result: ${cutText(words, limit)}`];
  const troubled = trouble === null ? [] : [cutText(trouble, 1_000)];
  return [statusLine(worker), ...troubled, ...structured, ...said].join('\n');
}

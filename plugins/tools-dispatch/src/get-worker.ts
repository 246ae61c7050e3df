import { shortened } from '@hansard/events';
import { type DispatchEnvelope, type DispatchHost, storeErrors } from '@hansard/provider';
import { ToolRefusal } from '@hansard/provider/tools';
import { z } from 'zod';

/** How a tool names a worker. */
export const dispatchIdField = z.string().min(1).describe('The dispatchId that dispatch_agent returned.');

/** A worker of the caller. @throws ToolRefusal that lists those that there are */
export async function getWorker(host: DispatchHost, dispatchId: string): Promise<DispatchEnvelope> {
  try {
    return await host.getWorker(dispatchId);
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) throw error;
    const workers = (await host.listWorkers()).slice(-mostListed);
    const known = workers.map((worker) => `${worker.dispatchId} (${worker.role}, ${worker.status})`);
    const there = known.length === 0 ? 'You have started none yet.' : `Yours are: ${known.join(', ')}.`;
    throw new ToolRefusal(`You have no worker ${JSON.stringify(shortened(dispatchId, 60))}. ${there}`);
  }
}

const mostListed = 20;

import type { DispatchRef } from '@hansard/dispatch';
import { type HansardError, isPlainObject } from '@hansard/events';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { viewerErrors } from '../../viewer-errors.ts';
import type { ViewedRuns } from './viewed-runs.ts';

/** The most bytes that are sent to a run at once. */
const mostBytes = 64 * 1024;

/** The paths below `/api/d/:task/:id` that take a POST. */
export const runPath = /^\/api\/d\/[^/]+\/[^/]+\/(?:message|abort)$/;

/**
 * What can be sent to a run, below `/api/d/:task/:id`:
 *
 *     POST /message  { "text": "…" }  a message of the user
 *     POST /abort    {}               ends it as aborted
 */
export function runRoutes(runs: ViewedRuns, most = mostBytes): Hono {
  const app = new Hono();
  const limit = bodyLimit({
    maxSize: most,
    onError: (context) =>
      context.json({ code: 'VIEW_MESSAGE_INVALID', message: `A message has at most ${most} bytes.` }, 413),
  });

  app.post('/message', limit, async (context) => {
    const { text } = await bodyOf(context);
    if (typeof text !== 'string' || text.trim() === '')
      throw viewerErrors.error('VIEW_MESSAGE_INVALID', 'A message needs a "text" that is not empty.');
    const dispatch = dispatchOf(context);
    if (!(await runs.send(dispatch, text)))
      throw notHere(dispatch, 'takes no messages now, or does not run here.');
    return context.json({});
  });

  app.post('/abort', limit, async (context) => {
    await bodyOf(context);
    const dispatch = dispatchOf(context);
    if (!runs.abort(dispatch)) throw notHere(dispatch, 'does not run here, or cannot be stopped from here.');
    return context.json({});
  });

  return app;
}

function notHere({ dispatchId }: DispatchRef, why: string): HansardError {
  return viewerErrors.error('VIEW_RUN_NOT_HERE', `The dispatch ${dispatchId} ${why}`, {
    details: { dispatchId },
  });
}

function dispatchOf(context: Context): DispatchRef {
  const { task = '', id = '' } = context.req.param() as Record<string, string>;
  return { taskDir: task, dispatchId: id };
}

async function bodyOf(context: Context): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = await context.req.json().catch((cause: unknown) => {
    throw viewerErrors.error('VIEW_MESSAGE_INVALID', 'What was sent is not JSON.', { cause });
  });
  if (isPlainObject(value)) return value;
  throw viewerErrors.error('VIEW_MESSAGE_INVALID', 'What was sent must be a JSON object.');
}

import type { DispatchRef } from '@hansard/dispatch';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { OpenDispatches } from '../open-dispatches.ts';
import { wholeNumber } from '../parameters.ts';
import type { ViewedStore } from '../viewed-store.ts';
import { dialogLens } from './dialog-lens.ts';
import { heardLens } from './heard-lens.ts';
import { perspectiveLens } from './perspective-lens.ts';
import { type RecentIndex, RecentIndexes } from './recent-index.ts';
import { treeLens } from './tree-lens.ts';

/**
 * The answers of the lenses, below `/api`: at most 200 lines before line `end`, or the last ones.
 *
 *     GET /tree?task=                            the dispatches of a task as trees, with their costs
 *     GET /d/:task/:id/dialog?agent=&agent=&end= sayings among these agents, or of all
 *     GET /d/:task/:id/perspective?agent=&end=   all that one agent was given, thought, did and said
 *     GET /d/:task/:id/heard?end=                who heard each saying
 */
export function lensRoutes(store: ViewedStore, dispatches: OpenDispatches): Hono {
  const app = new Hono();
  const indexes = new RecentIndexes();

  app.get('/tree', async (context) => context.json(await treeLens(store, context.req.query('task') ?? '')));

  app.get('/d/:task/:id/dialog', (context) =>
    onLog(context, (recent, end) => dialogLens(recent, { agents: context.req.queries('agent') ?? [], end })),
  );

  app.get('/d/:task/:id/perspective', (context) =>
    onLog(context, (recent, end) => {
      const agentId = context.req.query('agent') ?? recent.agents()[0]?.id ?? '';
      return perspectiveLens(recent, { agentId, end });
    }),
  );

  app.get('/d/:task/:id/heard', (context) => onLog(context, (recent, end) => heardLens(recent, { end })));

  return app;

  async function onLog(context: Context, answer: (recent: RecentIndex, end: number | null) => object) {
    const { task = '', id = '' } = context.req.param() as Record<string, string>;
    const ref: DispatchRef = { taskDir: task, dispatchId: id };
    const open = await dispatches.find(ref);
    if (open === null) throw new HTTPException(404, { message: `There is no dispatch ${id} in ${task}.` });
    const end = wholeNumber(context, 'end');
    const recent = await indexes.of(open);
    try {
      return context.json(answer(recent, end));
    } catch (error) {
      // An agent that is not in the log.
      if (error instanceof TypeError) throw new HTTPException(404, { message: error.message });
      throw error;
    }
  }
}

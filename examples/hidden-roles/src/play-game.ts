import { openDispatchStore } from '@hansard/dispatch';
import type { IdSource, NewEvent } from '@hansard/events';
import { openScriptedModel } from '@hansard/model-scripted';
import type { Clock, DispatchStoreProvider } from '@hansard/provider';
import { openSession } from '@hansard/session';
import { gameEventSchemas } from './game-events.ts';
import { createGameTools } from './game-tools.ts';

const taskDir = 'village/tasks/hidden-roles';

export interface PlayOptions {
  readonly clock?: Clock;
  readonly createId?: IdSource;
}

/** Plays the game once, into a new dispatch of a store, and gives back how it ended. */
export async function playGame(provider: DispatchStoreProvider, options: PlayOptions = {}) {
  const store = openDispatchStore(provider, { ...options, schemas: gameEventSchemas });
  const model = await openScriptedModel({ path: `${import.meta.dirname}/../game.yaml` });
  const tools = [createGameTools((event) => session.append([event as NewEvent]))];
  const session = await openSession({ ...options, store, taskDir, model, tools, role: 'game' });
  const { root } = session;
  await root.harken('Play a game of hidden roles.');
  const result = String(await root.response());
  await session.complete('completed', result);
  return {
    dispatchId: session.dispatchId,
    result,
    events: await store.getDispatchEvents(taskDir, session.dispatchId),
  };
}

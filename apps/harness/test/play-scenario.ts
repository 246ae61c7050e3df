import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, createIdSource, type DispatchEnvelope } from '@hansard/events';
import { openScriptedModel, readScenario } from '@hansard/model-scripted';
import { loadPlugins } from '@hansard/plugin-loader';
import type { Clock, DispatchStoreProvider } from '@hansard/provider';
import { openSession } from '@hansard/session';
import { createMemoryStore } from '@hansard/store-memory';
import { createSessionTools } from '@hansard/tools-session';
import { createLogIndex, type LogIndex } from '@hansard/views';

export const scenarioPath = (name: string) =>
  fileURLToPath(new URL(`../../../examples/scenarios/${name}.yaml`, import.meta.url));

export const taskDir = 'scenes/tasks/evening';

export interface Played {
  readonly envelope: DispatchEnvelope;
  readonly events: readonly CapturedEvent[];
  readonly index: LogIndex;
  /** What the root said to each line of the user. */
  readonly answers: readonly string[];
}

/** Always the same time, so that the same scenario gives the same events. */
const stoppedClock: Clock = {
  now: () => Date.UTC(2031, 4, 6),
  monotonic: () => 0,
  after: () => () => {},
};

/** Plays one of `examples/scenarios` to its end, with its hooks: the same ids and times whenever and wherever. */
export async function playScenario(
  name: string,
  provider: DispatchStoreProvider = createMemoryStore(),
): Promise<Played> {
  const path = scenarioPath(name);
  const { hooks, user } = await readScenario(path);
  await using plugins = await loadPlugins({
    baseDir: dirname(path),
    packageDirs: [import.meta.dirname],
    plugins: hooks,
  });
  if (plugins.errors[0] !== undefined) throw plugins.errors[0];
  const createId = createIdSource({ now: stoppedClock.now, random: () => 0 });
  const store = openDispatchStore(provider, { clock: stoppedClock, createId });
  const session = await openSession({
    store,
    taskDir,
    dispatchId: 'D1',
    languageModel: 'scripted',
    clock: stoppedClock,
    createId,
    model: await openScriptedModel({ path }),
    tools: [createSessionTools()],
    hooks: plugins.providers('HookProvider').map((hook) => hook.provider),
  });
  const { root } = session;
  const answers: string[] = [];
  for (const { text, source } of user) {
    await root.harken(text, { source });
    answers.push(String(await root.response()));
  }
  await session.complete('completed', answers.at(-1));
  const events = await store.getDispatchEvents(taskDir, 'D1');
  const envelope = await store.getDispatchEnvelope(taskDir, 'D1');
  if (envelope === null) throw new Error('The dispatch that was just played is not there.');
  return { envelope, events, index: createLogIndex(events), answers };
}

import { createSession } from '@hansard/session';
import {
  createLogIndex,
  deliveryDiffs,
  dialogOf,
  hearingMatrix,
  renderDeliveryDiffs,
  renderDialog,
  renderHearing,
} from '@hansard/views';
import type { Harness } from '../harness.ts';
import { openSessionProviders } from '../session/session-providers.ts';
import { toTaskName } from '../tasks/task-name.ts';
import { demoFile } from './demo-file.ts';
import type { Say } from './streams-scene.ts';

/** Plays Jack, Jill and her inner voice, and prints their dialog, who heard it, and the intervention of a hook. */
export async function playCafe(
  harness: Harness,
  taskDir: string,
  signal: AbortSignal,
  say: Say,
): Promise<void> {
  const { store } = harness;
  const providers = await openSessionProviders(harness, { kind: 'scenario', path: demoFile('cafe.yaml') });
  const { root, session } = await createSession({ store, taskDir, signal, role: 'host', ...providers });
  for (const { text, source } of providers.inputs) {
    await root.harken(text, { source });
    await root.response();
  }
  await session.close();
  await providers.close();

  const index = createLogIndex(await store.getDispatchEvents(taskDir, session.dispatchId));
  const pair = [...index.agents.values()].filter(({ name }) => name === 'Jack' || name === 'Jill');
  const dialog = dialogOf(
    index,
    pair.map(({ agentId }) => agentId),
  );
  const task = toTaskName(taskDir);
  say(
    `\nSeveral agents in one log: the dialog of Jack and Jill (hansard dialog ${task} --agent jack --agent jill):\n`,
  );
  say(renderDialog(index, dialog));
  say(`\nWho heard each utterance (hansard heard ${task}):\n`);
  say(renderHearing(index, hearingMatrix(index)));
  const altered = dialog.find(({ audience }) => audience.some(({ how }) => how === 'altered'));
  if (altered === undefined) return;
  say(`\nThe words that a hook removed for Jill (hansard heard ${task} ${altered.id} --diff):\n`);
  say(renderDeliveryDiffs(index, deliveryDiffs(index, altered.id)));
}

import { createSession } from '@hansard/session';
import type { Harness } from '../harness.ts';
import { openSessionProviders } from '../session/session-providers.ts';
import { demoFile } from './demo-file.ts';
import type { Say } from './streams-scene.ts';

/** Plays Jack, Jill and her inner voice: a hook alters what Jill hears, and one agent is heard by Jill only. */
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
  say('  host             Jack, Jill and her inner voice in one session');
}

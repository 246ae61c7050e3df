import type { Harness } from '@hansard/compose';
import { withChatModel } from '../session/chat-model.ts';
import { demoFile } from './demo-file.ts';
import type { Say } from './streams-scene.ts';

/** Plays Jack, Jill and her inner voice: a hook alters what Jill hears, and one agent is heard by Jill only. */
export async function playCafe(harness: Harness, taskDir: string, say: Say): Promise<void> {
  await withChatModel({ kind: 'scenario', path: demoFile('cafe.yaml') }, async ({ chat, inputs }) => {
    const { root, session } = await harness.chat({ task: taskDir, role: 'host', ...chat });
    for (const { text, source } of inputs) {
      await root.harken(text, { source });
      await root.response();
    }
    await session.close();
  });
  say('  host             Jack, Jill and her inner voice in one session');
}

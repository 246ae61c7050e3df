import type { ContextManifest } from './context-manifest.ts';

/** The differences between a recorded context and the same context rendered again, one line each; empty: none. */
export function compareContexts(recorded: ContextManifest, again: ContextManifest): string[] {
  const differences: string[] = [];
  const compare = (what: string, was: unknown, is: unknown) => {
    if (was !== is) differences.push(`${what}: recorded ${was}, rendered ${is}`);
  };
  compare('hash', recorded.hash, again.hash);
  compare('messages', recorded.messages, again.messages);
  if (again.tokens !== null) compare('tokens', recorded.tokens?.prompt, again.tokens.prompt);
  return differences;
}

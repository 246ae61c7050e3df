import type { ContextManifest } from './context-manifest.ts';
import type { ContextMessage } from './history/context-message.ts';
import { type MessagesSnapshot, messagesFrom } from './shared-messages.ts';

/** A prompt and its manifest. It does not change when its renderer observes more events. */
export interface RenderedContext {
  /** An array that belongs to the caller, built at the first access: until then a long context costs no more than a short one. */
  readonly messages: readonly ContextMessage[];
  /** The messages after `manifest.prefix`, which differ from the previous call. The cost is proportional to their number. */
  readonly added: readonly ContextMessage[];
  readonly manifest: ContextManifest;
}

export function renderedContext(manifest: ContextManifest, snapshot: MessagesSnapshot): RenderedContext {
  let messages: readonly ContextMessage[] | undefined;
  let added: readonly ContextMessage[] | undefined;
  return {
    get messages() {
      messages ??= messagesFrom(0, snapshot);
      return messages;
    },
    get added() {
      added ??= messagesFrom(manifest.prefix.messages, snapshot);
      return added;
    },
    manifest,
  };
}

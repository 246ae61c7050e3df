import type { ContextManifest } from './context-manifest.ts';
import type { ContextMessage } from './history/context-message.ts';
import { type MessagesThen, messagesFrom } from './shared-messages.ts';

/** What a model is given, and how it came to be that. It stays as it is, whatever its renderer observes and renders later. */
export interface RenderedContext {
  /** An array of the caller's own, made when it is first asked for: until then a long context costs as little as a short one. */
  readonly messages: readonly ContextMessage[];
  /** The messages behind `manifest.prefix`: those that the call before did not have there. Costs as much as they are many. */
  readonly added: readonly ContextMessage[];
  readonly manifest: ContextManifest;
}

export function renderedContext(manifest: ContextManifest, then: MessagesThen): RenderedContext {
  let messages: readonly ContextMessage[] | undefined;
  let added: readonly ContextMessage[] | undefined;
  return {
    get messages() {
      messages ??= messagesFrom(0, then);
      return messages;
    },
    get added() {
      added ??= messagesFrom(manifest.prefix.messages, then);
      return added;
    },
    manifest,
  };
}

import type { DispatchEnvelope } from '@hansard/events';
import { compareContexts } from './compare-contexts.ts';
import type { ContextMessage } from './history/context-message.ts';
import type { RenderedCall } from './render-calls.ts';

interface ContextVerification {
  /** Whether the context was rendered to the recorded hash; null: the log has no record to compare with. */
  readonly isSame: boolean | null;
  /** The same in words. */
  readonly text: string;
}

/** Compares the context of a model call, rendered again, with its recorded manifest. */
export function verificationOf({ inference, recorded, manifest }: RenderedCall): ContextVerification {
  if (recorded === null)
    return {
      isSame: null,
      text: `The log has no record of the context of ${inference.id}, so there is nothing to compare.`,
    };
  const differences = compareContexts(recorded, manifest);
  return differences.length === 0
    ? { isSame: true, text: `Identical: ${manifest.messages} messages, ${manifest.hash}.` }
    : {
        isSame: false,
        text: `The rendered context differs from the recorded one: ${differences.join('; ')}.`,
      };
}

/** Why the contexts of a dispatch are unknown, in words; null: its log is full. */
export function unknownContext({ fidelity, dispatchId }: DispatchEnvelope): string | null {
  return fidelity === 'full'
    ? null
    : `The dispatch ${dispatchId} was recorded as a narrative: the input and output of its tools are not in the log, so the context of its model is unknown.`;
}

/** How many markers of redaction a context has. */
export function redactionMarkers(messages: readonly ContextMessage[]): number {
  return JSON.stringify(messages).match(/\[REDACTED:[A-Za-z0-9_.-]{1,100}\]/g)?.length ?? 0;
}

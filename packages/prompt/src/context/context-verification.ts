import type { DispatchEnvelope } from '@hansard/events';
import { compareContexts } from './compare-contexts.ts';
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

/**
 * What a reader must know of the markers of redaction in a context, in words; null: it has none. Models of sessions are given the text of
 * the log, so the recorded hash is of the redacted text, unless secrets were replaced in the log later.
 */
export function redactionNote(rendered: RenderedCall, isRedactedLater: boolean): string | null {
  const markers = JSON.stringify(rendered.messages).match(/\[REDACTED:[A-Za-z0-9_.-]{1,100}\]/g)?.length ?? 0;
  if (markers === 0) return null;
  const count = `The context has ${markers} ${markers === 1 ? 'marker' : 'markers'} of redaction.`;
  if (isRedactedLater)
    return `${count} Secrets were replaced in this log later, so a recorded hash can be of the text before.`;
  if (verificationOf(rendered).isSame !== true) return count;
  return `${count} Its hash is of the redacted text, which the model received.`;
}

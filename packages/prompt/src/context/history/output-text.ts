import type { EventData } from '@hansard/events';
import { snapshotText } from '@hansard/events/plain';

/** Observed output as text for a model. */
export function outputText({ parts }: EventData<'agent:output'>): string {
  return parts.map(snapshotText).join('\n');
}

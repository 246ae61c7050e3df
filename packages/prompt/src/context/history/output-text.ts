import type { EventData } from '@hansard/events';
import { contentLabel, snapshotText } from '@hansard/events/plain';
import type { TranscriptMessage } from '../../transcript/transcript-message.ts';

/** Observed output as text for a model. */
export function outputText({ parts }: EventData<'agent:output'>): string {
  return parts.map(snapshotText).join('\n');
}

/** A message with what is attached to it: texts, and the names of images, documents and sounds. */
export function messageText({ content, parts = [] }: Pick<TranscriptMessage, 'content' | 'parts'>): string {
  const attached = parts.map((part) => {
    if (part.kind !== 'text') return contentLabel(part);
    return part.name === undefined ? part.text : `${part.name}:\n${part.text}`;
  });
  return [content ?? '', ...attached].filter((text) => text !== '').join('\n');
}

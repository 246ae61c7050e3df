import { definedOnly, type EventData, type JsonObject } from '@hansard/events';
import { asEventId } from '../values/ids.ts';
import { asCount, asName, asObject, asText, without } from '../values/json-fields.ts';
import { mapOther } from './map-system-record.ts';
import type { TranscriptStep } from './transcript-step.ts';

/**
 * The boundary of a compaction. One with a summary becomes `session:compaction` with the next record, which holds the
 * summary. A boundary without one, of a microcompaction, is the whole record of it.
 */
export function mapBoundary(step: TranscriptStep): void {
  const agent = step.agent();
  step.announce(agent);
  step.state.inferences.end(agent);
  step.writeInferences();
  const { uuid, compactMetadata } = step.message;
  const boundary = asName(uuid);
  if (boundary !== undefined && compactMetadata !== undefined)
    step.transcript.boundaries.set(boundary, asObject(compactMetadata) ?? {});
  mapOther(step);
}

/** A compaction of the model's context without a summary: tool results were dropped from it. */
export function mapMicrocompaction(step: TranscriptStep): void {
  const agent = step.agent();
  step.announce(agent);
  step.state.inferences.end(agent);
  step.writeInferences();
  const { subtype = null, microcompactMetadata } = step.message;
  const metadata = asObject(microcompactMetadata) ?? {};
  const { facts, others } = compactionFacts(step, metadata);
  step.keepOthers(['microcompactMetadata']);
  step.events.details = { subtype, ...step.events.details, microcompactMetadata: others };
  step.events.event('session:compaction', facts, { agentId: agent?.id });
}

/** The summary of a compaction: `session:compaction`, caused by the boundary before it. */
export function mapSummary(step: TranscriptStep, texts: readonly string[]): void {
  const agent = step.agent();
  const boundary = asName(step.message.parentUuid);
  const metadata = boundary === undefined ? undefined : step.transcript.boundaries.get(boundary);
  if (metadata === undefined) step.state.horizon.missed();
  const { facts } = compactionFacts(step, metadata ?? {});
  step.events.event(
    'session:compaction',
    { ...facts, summary: texts.join('\n\n') },
    { agentId: agent?.id, cause: metadata === undefined ? undefined : asEventId(boundary) },
  );
}

function compactionFacts(
  step: TranscriptStep,
  metadata: JsonObject,
): { readonly facts: EventData<'session:compaction'>; readonly others: JsonObject } {
  const preTokens = asCount(metadata.preTokens);
  const postTokens = asCount(metadata.postTokens);
  const kept = asEventId(asObject(metadata.preservedSegment)?.headUuid);
  const keptFrom = kept !== undefined && step.state.ids.has(kept) ? kept : undefined;
  if (kept !== keptFrom) step.state.horizon.missed();
  const named = definedOnly({ trigger: asText(metadata.trigger), preTokens, postTokens });
  return {
    facts: { ...named, trigger: named.trigger ?? 'unknown', ...definedOnly({ keptFrom }) },
    others: without(metadata, Object.keys(named)),
  };
}

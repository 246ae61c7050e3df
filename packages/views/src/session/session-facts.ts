import type { CapturedEvent, DispatchEnvelope, JsonValue, Usage } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { dispatchDuration, factsOf, openCallEvents, withOpenCalls } from '@hansard/facts';
import { outcomeInWords } from '../rows/describe-event.ts';

/** The facts about a dispatch as a whole, from its envelope and, where that does not have them (yet), from its events. */
export interface SessionFacts {
  readonly envelope: DispatchEnvelope;
  readonly model: string | null;
  readonly costUsd: number | null;
  readonly usage: Usage | null;
  readonly durationMs: number | null;
  /** The outcome of the dispatch in words; null: not known (yet). */
  readonly result: string | null;
  readonly structuredResult: JsonValue | null;
}

/** The facts about a dispatch. `events`: all its events, in append order. */
export function sessionFacts(envelope: DispatchEnvelope, events: readonly CapturedEvent[]): SessionFacts {
  const init = events.find((event) => isReadableAs(event, 'session:init'));
  const calls = new Set(events.flatMap(({ id, type }) => (type === 'agent:inference' ? id : [])));
  const open = openCallEvents(envelope, (id) => calls.has(id));
  const facts = factsOf([...events, ...open]);
  const outcome = facts.completion;
  const isInEnvelope = outcome === null && envelope.status !== 'running';
  const { cost, usage } = withOpenCalls(envelope);
  return {
    envelope,
    model: envelope.model ?? init?.data.model ?? null,
    costUsd: isInEnvelope ? (cost ?? facts.costUsd) : (facts.costUsd ?? cost),
    usage: isInEnvelope ? (usage ?? facts.usage) : (facts.usage ?? usage),
    durationMs: facts.durationMs ?? dispatchDuration(envelope),
    result: outcome === null ? null : outcomeInWords(outcome) || null,
    structuredResult: outcome?.structuredResult ?? envelope.structuredResult,
  };
}

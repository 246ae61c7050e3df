import type { CapturedEvent, DispatchEnvelope, JsonObject } from '@hansard/events';
import type { ContentMode } from '../trace-options.ts';
import type { TraceRecord } from '../trace-record.ts';
import type { AgentState } from './agent-state.ts';
import type { FindSpan } from './links.ts';
import type { RecentSpans } from './recent-spans.ts';
import type { RecordFactory } from './record-factory.ts';

/** Shared by the parts of the fold of one dispatch. */
export interface FoldContext {
  readonly envelope: DispatchEnvelope;
  readonly factory: RecordFactory;
  readonly content: ContentMode;
  readonly reasoning: boolean;
  readonly dataOf: (type: string) => boolean;
  readonly recent: RecentSpans;
  readonly find: FindSpan;
  readonly emit: (record: TraceRecord) => void;
  /** Notes an event that a span is made of, so that the span says if the time of the event is not recorded. */
  readonly noteTime: (spanId: string, event: CapturedEvent) => void;
  /** Records that a tool call started a dispatch. */
  readonly startedBy: (childDispatchId: string, spanId: string) => void;
}

/** An event with derived facts. */
export interface FoldStep<T extends JsonObject = JsonObject> {
  readonly event: CapturedEvent;
  readonly data: T;
  readonly agent: AgentState;
  /** Milliseconds since 1970: that of the event before if its own is not recorded. */
  readonly time: number;
}

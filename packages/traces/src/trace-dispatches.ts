import type { DispatchEnvelope, TaskSource } from '@hansard/events';
import { ATTR_GEN_AI_CONVERSATION_ID, ATTR_SESSION_ID } from '@opentelemetry/semantic-conventions/incubating';
import { hansard } from './spans/attributes.ts';
import { DispatchFold } from './spans/dispatch-fold.ts';
import type { FoldContext } from './spans/fold-state.ts';
import { RecentSpans, spanIdOf, traceIdOf } from './spans/identity.ts';
import { ClosedSpans, createOrigin, RecordFactory, type RecordOrigin } from './spans/record-factory.ts';
import type { TraceOptions } from './trace-options.ts';
import type { TraceRecord } from './trace-record.ts';

/**
 * Dispatches as spans and log records, each as soon as it is over: one trace for a root dispatch and all below it. Only
 * open items are in memory, whatever the length of the log, and the same log gives the same records. If one of the
 * dispatches began with a copy of another one's records, the copied events are only in the records of that other one.
 */
export async function* traceDispatches(
  source: TaskSource,
  options: TraceOptions = {},
): AsyncGenerator<TraceRecord> {
  const { envelopes, relatives = [] } = source;
  const known = [...relatives, ...envelopes];
  const byId = new Map(known.map((envelope) => [envelope.dispatchId, envelope]));
  const traceOf = (dispatchId: string) => traceIdOf(rootOf(dispatchId, byId));
  const parents = new Map<string, string>();
  const recent = new RecentSpans();
  const origin = createOrigin(options);
  const closed = new ClosedSpans();
  for (const envelope of envelopes) {
    const ready: TraceRecord[] = [];
    const { dispatchId, parentDispatchId, startedAt } = envelope;
    if (startedAt === null) {
      options.onUntimed?.('dispatch');
      continue;
    }
    const untimed = new Set<string>();
    const copied = (await source.copiedEvents?.(dispatchId)) ?? new Map<string, string>();
    const context: FoldContext = {
      envelope,
      factory: factoryFor(envelope, traceOf(dispatchId), { origin, closed, taskDir: source.taskDir }),
      content: options.content ?? 'none',
      reasoning: options.reasoning ?? false,
      dataOf: options.dataOf ?? (() => false),
      onLeftOut: options.onLeftOut ?? (() => undefined),
      recent,
      find: (id, named = dispatchId) => {
        const other = named === dispatchId ? (copied.get(id) ?? named) : named;
        return { traceId: traceOf(other), spanId: recent.get(other, id) };
      },
      emit: (record) => ready.push(marked(record, untimed)),
      noteTime: (spanId, { timestamp }) => void (timestamp === null && untimed.add(spanId)),
      startedBy: (child, spanId) => {
        if (byId.get(child)?.parentDispatchId === dispatchId) parents.set(child, spanId);
      },
    };
    const parent =
      parentDispatchId === null
        ? null
        : (parents.get(dispatchId) ?? spanIdOf(parentDispatchId, parentDispatchId));
    const fold = new DispatchFold(context, parent, Date.parse(startedAt));
    for await (const event of source.readEvents(dispatchId)) {
      if (copied.has(event.id)) {
        options.onLeftOut?.('events copied from another session', 1);
        fold.skip(event);
        continue;
      }
      if (event.timestamp === null) options.onUntimed?.('event');
      fold.take(event);
      yield* ready.splice(0);
    }
    fold.end();
    yield* ready;
  }
}

/** Says of a span that the time of one of its events is not recorded. */
function marked(record: TraceRecord, untimed: ReadonlySet<string>): TraceRecord {
  if (record.kind === 'span' && untimed.has(record.span.spanContext().spanId))
    record.span.attributes[hansard.timeNotRecorded] = true;
  return record;
}

function factoryFor(
  { dispatchId, taskSlug }: DispatchEnvelope,
  traceId: string,
  {
    origin,
    closed,
    taskDir,
  }: { readonly origin: RecordOrigin; readonly closed: ClosedSpans; readonly taskDir: string },
): RecordFactory {
  const common = {
    [ATTR_GEN_AI_CONVERSATION_ID]: dispatchId,
    // Tasks of two projects can have one name.
    [ATTR_SESSION_ID]: taskDir.replace('/tasks/', '/'),
    [hansard.task]: taskSlug,
  };
  return new RecordFactory(traceId, origin, common, closed);
}

/** The root dispatch. If envelopes are missing, the topmost known id. A cycle of parents ends at its start. */
function rootOf(dispatchId: string, byId: ReadonlyMap<string, DispatchEnvelope>): string {
  const seen = new Set<string>();
  let root = dispatchId;
  while (!seen.has(root)) {
    seen.add(root);
    root = byId.get(root)?.parentDispatchId ?? root;
  }
  return root;
}

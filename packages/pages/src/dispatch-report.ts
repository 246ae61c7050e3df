import type { CapturedEvent, DispatchEnvelope, TaskSource } from '@hansard/events';
import {
  createLogIndex,
  type DispatchTreeNode,
  dispatchTree,
  type LogIndex,
  type SessionFacts,
  sessionFacts,
} from '@hansard/views';
import type { ReportOptions } from './report-options.ts';

/** One dispatch of a report: all events, for every view or, if it is long, one by one. */
export type DispatchReport =
  | { readonly kind: 'whole'; readonly facts: SessionFacts; readonly index: LogIndex }
  | {
      readonly kind: 'long';
      readonly envelope: DispatchEnvelope;
      readonly events: AsyncIterable<CapturedEvent>;
    };

export function envelopeOf(report: DispatchReport): DispatchEnvelope {
  return report.kind === 'whole' ? report.facts.envelope : report.envelope;
}

export function eventsOf(report: DispatchReport): Iterable<CapturedEvent> | AsyncIterable<CapturedEvent> {
  return report.kind === 'whole' ? report.index.events : report.events;
}

const wholeUpToByDefault = 10_000;

/** The dispatches in order, parents before their workers. Consume the events of one before requesting the next. */
export async function* readDispatchReports(
  source: TaskSource,
  { wholeUpTo = wholeUpToByDefault }: ReportOptions,
): AsyncGenerator<DispatchReport> {
  for (const envelope of inTreeOrder(dispatchTree(source.envelopes))) {
    const events = source.readEvents(envelope.dispatchId)[Symbol.asyncIterator]();
    try {
      const first: CapturedEvent[] = [];
      let next = await events.next();
      for (; next.done !== true && first.length < wholeUpTo; next = await events.next())
        first.push(next.value);
      if (next.done === true) {
        yield { kind: 'whole', facts: sessionFacts(envelope, first), index: createLogIndex(first) };
        continue;
      }
      yield { kind: 'long', envelope, events: allOf([...first, next.value], events) };
    } finally {
      await events.return?.();
    }
  }
}

async function* allOf(
  first: readonly CapturedEvent[],
  rest: AsyncIterator<CapturedEvent>,
): AsyncGenerator<CapturedEvent> {
  yield* first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

function inTreeOrder(nodes: readonly DispatchTreeNode[]): DispatchEnvelope[] {
  return nodes.flatMap(({ envelope, children }) => [envelope, ...inTreeOrder(children)]);
}

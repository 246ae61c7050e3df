import type { CapturedEvent, DispatchEnvelope, EventOf, JsonValue, Usage } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { DispatchTotals, dispatchDuration, openCallEvents, withOpenCalls } from '@hansard/facts';
import { type SessionAgent, sessionAgents } from '../agents/session-agents.ts';
import { describeEvent, type EventDescription, outcomeInWords } from '../rows/describe-event.ts';
import { noResultOnRecord } from '../rows/row-of.ts';
import { compactJson, fieldsInWords } from '../text/compact-json.ts';

/** A dispatch for a reader (D12): its facts, cost, events in order and result. Plain data. */
export interface SessionView {
  readonly envelope: DispatchEnvelope;
  readonly model: string | null;
  readonly costUsd: number | null;
  readonly usage: Usage | null;
  readonly durationMs: number | null;
  /** The dispatched agent first, then the others in the order in which they appear. */
  readonly agents: readonly SessionAgent[];
  readonly rows: readonly SessionRow[];
  /** The outcome of the dispatch in words; null: not known (yet). */
  readonly result: string | null;
  readonly structuredResult: JsonValue | null;
}

/** One event, or a tool call and its result. Texts are as recorded. */
export interface SessionRow extends EventDescription {
  readonly event: CapturedEvent;
  /** The result that answers this call. */
  readonly answer: CapturedEvent | null;
  readonly agent: SessionAgent;
  /** The error of the result, the output if it was recorded, or otherwise its metadata in words (D7); '' without a result. */
  readonly outcome: string;
}

type Call = EventOf<'agent:tool_call'>;
type Result = EventOf<'agent:tool_result'>;

/**
 * The view of a dispatch and its events, which are given in append order. A call and its result are one row, including when
 * other events are between them. A result without a call and a second result are rows of their own.
 */
export function sessionView(envelope: DispatchEnvelope, events: readonly CapturedEvent[]): SessionView {
  const agents = sessionAgents(envelope, events);
  const nameAgent = (agentId: string) => {
    const agent = agents.of(agentId);
    return agent.agentId === agentId ? agent.name : agentId;
  };
  const { answers, answering } = joinToolCalls(events);
  const denied = deniedCalls(events);
  const complete = events.findLast((event) => isReadableAs(event, 'session:complete'));
  const init = events.find((event) => isReadableAs(event, 'session:init'));
  const outcome = complete?.data;
  const totals = new DispatchTotals();
  const calls = new Set(events.flatMap(({ id, type }) => (type === 'agent:inference' ? id : [])));
  const open = openCallEvents(envelope, (id) => calls.has(id));
  for (const event of [...events, ...open]) totals.observe(event);
  const isInEnvelope = complete === undefined && envelope.status !== 'running';
  const { cost, usage } = withOpenCalls(envelope);

  const rows = events
    .filter((event) => !answering.has(event))
    .map((event): SessionRow => {
      const agent = agents.of(event.agentId);
      if (!isReadableAs(event, 'agent:tool_call')) {
        return { ...describeEvent(event, nameAgent), event, answer: null, agent, outcome: '' };
      }
      const answer = answers.get(event) ?? null;
      const isDenied = denied.has(event.data.toolCallId);
      return { ...callRow(event, answer, envelope, isDenied), event, answer, agent };
    });

  return {
    envelope,
    model: envelope.model ?? init?.data.model ?? null,
    costUsd: isInEnvelope ? (cost ?? totals.costUsd) : (totals.costUsd ?? cost),
    usage: isInEnvelope ? (usage ?? totals.usage) : (totals.usage ?? usage),
    durationMs: totals.durationMs ?? dispatchDuration(envelope),
    agents: agents.all,
    rows,
    result: outcome === undefined ? null : outcomeInWords(outcome) || null,
    structuredResult: outcome?.structuredResult ?? envelope.structuredResult,
  };
}

function callRow(
  call: Call,
  answer: Result | null,
  envelope: DispatchEnvelope,
  isDenied: boolean,
): EventDescription & { readonly outcome: string } {
  const { data } = answer ?? {};
  const unanswered = envelope.status === 'running' ? 'running' : noResultOnRecord;
  const status = isDenied ? 'denied' : (data?.status ?? unanswered);
  return {
    ...describeEvent(call),
    status,
    durationMs: data?.durationMs,
    tone: status === 'completed' || status === 'running' ? 'plain' : 'bad',
    outcome: data === undefined ? '' : outcomeOf(data),
  };
}

function outcomeOf({ error, output, metadata, target }: Result['data']): string {
  if (error !== undefined) return error;
  if (output === undefined || output === null) return fieldsInWords(metadata, target);
  return typeof output === 'string' ? output : compactJson(output);
}

/** The result of each call: the first that names its id; if a call id is repeated, calls and results are paired in order. */
function joinToolCalls(events: readonly CapturedEvent[]): {
  readonly answers: ReadonlyMap<CapturedEvent, Result>;
  readonly answering: ReadonlySet<CapturedEvent>;
} {
  const open = new Map<string, Call[]>();
  const answers = new Map<CapturedEvent, Result>();
  const answering = new Set<CapturedEvent>();
  for (const event of events) {
    if (isReadableAs(event, 'agent:tool_call')) {
      const waiting = open.get(event.data.toolCallId);
      if (waiting === undefined) open.set(event.data.toolCallId, [event]);
      else waiting.push(event);
    } else if (isReadableAs(event, 'agent:tool_result')) {
      const call = open.get(event.data.toolCallId)?.shift();
      if (call === undefined) continue;
      answers.set(call, event);
      answering.add(event);
    }
  }
  return { answers, answering };
}

function deniedCalls(events: readonly CapturedEvent[]): ReadonlySet<string> {
  return new Set(
    events.flatMap((event) =>
      isReadableAs(event, 'harness:hook_decision') &&
      event.data.decision === 'deny' &&
      event.data.on === 'tool_call' &&
      event.data.toolCallId !== undefined
        ? [event.data.toolCallId]
        : [],
    ),
  );
}

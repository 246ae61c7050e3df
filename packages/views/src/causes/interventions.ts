import type { EventOf } from '@hansard/events';
import type { LogIndex } from '../log/log-index.ts';
import { isUtterance, type LogNode } from '../log/log-node.ts';
import { resolveReference } from '../log/resolve-reference.ts';
import { describeEvent } from '../rows/describe-event.ts';
import { compactJson } from '../text/compact-json.ts';

/** What a hook decided, on what, and what came of it. */
export interface Intervention {
  /** The decision's own id. */
  readonly id: string;
  readonly hook: string;
  /** `tool_call`, `delivery` … */
  readonly on: string;
  readonly decision: 'allow' | 'deny' | 'alter';
  readonly reason: string | null;
  /** Whose call it was, or who was to hear it. '' for the dispatched agent itself. */
  readonly agentId: string;
  /** What was decided on; null: it is not in the log. */
  readonly subject: IdentifiedText | null;
  /** `stopped`: a call was not made. `withheld`: nothing was heard. `altered`: something else was done or heard. */
  readonly effect: 'none' | 'stopped' | 'withheld' | 'altered';
  /** What came instead: the result of the stopped call, the altered input or the altered delivery; null: nothing. */
  readonly outcome: IdentifiedText | null;
  /** Where an agent decided: what it said. */
  readonly verdict: (IdentifiedText & { readonly agentId: string }) | null;
}

interface IdentifiedText {
  readonly id: string;
  readonly text: string;
}

type Decision = EventOf<'harness:hook_decision'>;

/** Each intervention of a hook, in the order of the log. */
export function interventionsOf(index: LogIndex): Intervention[] {
  const results = new Map<LogNode, LogNode>();
  for (const node of index.nodes) {
    if (node.event.type === 'agent:tool_result' && node.call !== null) results.set(node.call, node);
  }
  return index.decisions.map((node) =>
    intervention(index, node, node.call === null ? undefined : results.get(node.call)),
  );
}

function intervention(index: LogIndex, node: LogNode, result: LogNode | undefined): Intervention {
  const { id, agentId = '', data } = node.event as Decision;
  const { hook, on, decision, reason = null, subject: subjectId } = data;
  const subject = subjectId === undefined ? node.call : resolveReference(index, subjectId);
  return {
    id,
    hook,
    on,
    decision,
    reason,
    agentId,
    subject: textOf(subject),
    effect: effectOf(data),
    outcome: decision === 'alter' ? alteration(node, subject) : decision === 'deny' ? textOf(result) : null,
    verdict: verdictOf(index, node),
  };
}

/** The new input of a call, or what the agent then heard: of several alterations, all lead to the same delivery. */
function alteration({ event, position }: LogNode, subject: LogNode | null): IdentifiedText | null {
  const { id, agentId = '', data } = event;
  if (data.input !== undefined) return { id, text: compactJson(data.input) };
  const heard = subject?.saying?.hearings.find(
    (hearing) =>
      hearing.agentId === agentId &&
      (hearing.via === id || hearing.position > position) &&
      hearing.text !== null,
  );
  return heard === undefined ? null : { id: heard.event.id, text: heard.text ?? '' };
}

/** The utterance among the causes of a decision. */
function verdictOf(index: LogIndex, { event }: LogNode): Intervention['verdict'] {
  for (const id of [event.cause ?? []].flat()) {
    const message = resolveReference(index, id)?.message ?? null;
    if (message === null || !isUtterance(message)) continue;
    const { main, entry } = message;
    return { id: main.event.id, text: entry.message.content ?? '', agentId: entry.agentId };
  }
  return null;
}

function effectOf({ on, decision }: Decision['data']): Intervention['effect'] {
  if (decision === 'allow') return 'none';
  if (decision === 'alter') return 'altered';
  return on === 'delivery' ? 'withheld' : 'stopped';
}

function textOf(node: LogNode | null | undefined): IdentifiedText | null {
  if (node == null) return null;
  const { event, message, saying } = node;
  if (event.type === 'agent:tool_call') {
    const { tool, input } = event.data;
    return { id: event.id, text: `${tool} ${input === undefined ? '' : compactJson(input)}`.trimEnd() };
  }
  return { id: event.id, text: message?.entry.message.content ?? saying?.text ?? describeEvent(event).text };
}

import type { LogIndex } from '../log/log-index.ts';
import { isUtterance, type LogNode } from '../log/log-node.ts';
import { describeEvent } from '../rows/describe-event.ts';
import { compactJson } from '../text/compact-json.ts';

/** A decision of a hook, with its subject and its effect. */
export interface Intervention {
  /** The id of the decision. */
  readonly id: string;
  readonly hook: string;
  /** `tool_call`, `delivery` … */
  readonly on: string;
  readonly decision: 'allow' | 'deny' | 'alter';
  readonly reason: string | null;
  /** The agent that made the call or would receive the delivery. '' for the dispatched agent itself. */
  readonly agentId: string;
  /** The call or content that was decided on; null: not in the log. */
  readonly subject: IdentifiedText | null;
  /** `stopped`: the call was not made. `withheld`: nothing was delivered. `altered`: the call or the delivery was changed. */
  readonly effect: 'none' | 'stopped' | 'withheld' | 'altered';
  /** The result of the stopped call, the altered input or the altered delivery; null: none. */
  readonly outcome: IdentifiedText | null;
  /** The utterance of the agent that decided; null: no agent did. */
  readonly verdict: (IdentifiedText & { readonly agentId: string }) | null;
}

interface IdentifiedText {
  readonly id: string;
  readonly text: string;
}

type Decision = LogIndex['decisions'][number];

/** The interventions of all hooks, in the order of the log. */
export function interventionsOf(index: LogIndex): Intervention[] {
  const results = new Map<LogNode, LogNode>();
  for (const node of index.nodes) {
    const call = node.event.type === 'agent:tool_result' ? index.callOf(node) : null;
    if (call !== null) results.set(call, node);
  }
  return index.decisions.map((node) => {
    const call = index.callOf(node);
    return intervention(index, node, call, call === null ? null : (results.get(call) ?? null));
  });
}

function intervention(
  index: LogIndex,
  node: Decision,
  call: LogNode | null,
  result: LogNode | null,
): Intervention {
  const { id, agentId = '', data } = node.event;
  const { hook, on, decision, reason = null, subject: subjectId } = data;
  const subject = subjectId === undefined ? call : index.find(subjectId);
  return {
    id,
    hook,
    on,
    decision,
    reason,
    agentId,
    subject: textOf(index, subject),
    effect: effectOf(data),
    outcome:
      decision === 'alter'
        ? alteration(index, node, subject)
        : decision === 'deny'
          ? textOf(index, result)
          : null,
    verdict: verdictOf(index, node),
  };
}

/** The new input of a call, or the delivery that names the decision as its `via`. */
function alteration(index: LogIndex, { event }: Decision, subject: LogNode | null): IdentifiedText | null {
  const { id, data } = event;
  if (data.input !== undefined) return { id, text: compactJson(data.input) };
  const saying = subject === null ? null : index.sayingOf(subject);
  const heard = saying?.hearings.find(({ via, text }) => via === id && text !== null);
  return heard === undefined ? null : { id: heard.event.id, text: heard.text ?? '' };
}

/** The first utterance among the causes of a decision. */
function verdictOf(index: LogIndex, { event }: Decision): Intervention['verdict'] {
  for (const id of [event.cause ?? []].flat()) {
    const node = index.find(id);
    const message = node === null ? null : index.messageOf(node);
    if (message === null || !isUtterance(message)) continue;
    const { main, entry } = message;
    return { id: main.event.id, text: entry.message.content ?? '', agentId: entry.agentId };
  }
  return null;
}

function effectOf({ on, decision }: Decision['event']['data']): Intervention['effect'] {
  if (decision === 'allow') return 'none';
  if (decision === 'alter') return 'altered';
  return on === 'delivery' ? 'withheld' : 'stopped';
}

function textOf(index: LogIndex, node: LogNode | null): IdentifiedText | null {
  if (node === null) return null;
  const { event } = node;
  if (event.type === 'agent:tool_call') {
    const { tool, input } = event.data;
    return { id: event.id, text: `${tool} ${input === undefined ? '' : compactJson(input)}`.trimEnd() };
  }
  const text = index.messageOf(node)?.entry.message.content ?? index.sayingOf(node)?.text;
  return { id: event.id, text: text ?? describeEvent(event).text };
}

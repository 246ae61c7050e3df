import type { LogIndex } from '../log/log-index.ts';
import { isUtterance, type LogNode } from '../log/log-node.ts';
import { describeEvent } from '../rows/describe-event.ts';
import { compactJson } from '../text/compact-json.ts';

/** A decision of a hook, with its subject and its effect. */
export interface Intervention {
  /** The id of the decision. */
  readonly id: string;
  readonly hook: string;
  /** `tool_call`, `tool_result`, `delivery` … */
  readonly on: string;
  readonly decision: 'allow' | 'deny' | 'alter' | 'retry';
  readonly reason: string | null;
  /** The agent that made the call or would receive the delivery or result. '' for the dispatched agent itself. */
  readonly agentId: string;
  /** The call or content that was decided on; null: not in the log. */
  readonly subject: IdentifiedText | null;
  /** The decision before it on the same call or delivery; null: it is the first. */
  readonly previous: string | null;
  /** What was decided on, if it is not as in the subject: what the decision before made, or the text that the decision recorded. */
  readonly given: string | null;
  /** What an alteration made: the new text, or the new input as JSON. */
  readonly made: string | null;
  /** `stopped`: the call was not made. `withheld`: the text was not passed on. `altered`: the call or the text was changed. */
  readonly effect: 'none' | 'stopped' | 'withheld' | 'altered';
  /**
   * The altered input, the delivery or result that an alteration led to, or the result that an agent received in place of what was
   * denied. Found only along the chain of decisions; null: none, or not recorded.
   */
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
  const chains = new DecisionChains(index);
  return index.decisions.map((node) => intervention(index, node, chains));
}

/** The decisions on a call or a delivery lead from the first to the last, which what they led to names as `via`. */
class DecisionChains {
  readonly #index: LogIndex;
  readonly #decisions = new Map<string, Decision>();
  /** By the id of a decision: the one after it. */
  readonly #next = new Map<string, Decision>();
  /** By the id of a decision: the message that names it as `via`. */
  readonly #led = new Map<string, LogNode>();
  /** By call. */
  readonly #results = new Map<LogNode, LogNode>();

  constructor(index: LogIndex) {
    this.#index = index;
    for (const node of index.decisions) {
      const { id, data } = node.event;
      const before = data.previous === undefined ? undefined : this.#decisions.get(data.previous);
      if (before !== undefined) this.#next.set(before.event.id, node);
      this.#decisions.set(id, node);
    }
    for (const node of index.nodes) {
      const { type, via } = node.event;
      if (via !== undefined && !this.#led.has(via) && index.messageOf(node) !== null)
        this.#led.set(via, node);
      const call = type === 'agent:tool_result' ? index.callOf(node) : null;
      if (call !== null) this.#results.set(call, node);
    }
  }

  before({ event }: Decision): Decision | null {
    return this.#decisions.get(event.data.previous ?? '') ?? null;
  }

  /** The message that the chain led to, from any of its decisions. Null if the last one denied: nothing came of those before. */
  outcomeOf(decision: Decision): LogNode | null {
    let last = decision;
    for (let next = this.#next.get(last.event.id); next !== undefined; next = this.#next.get(last.event.id))
      last = next;
    return last.event.data.decision === 'deny' ? null : (this.#led.get(last.event.id) ?? null);
  }

  /** The result that an agent received because of a denial. That of a call that was not made need not name the decision. */
  insteadOf(decision: Decision): LogNode | null {
    const { id, data } = decision.event;
    const call = data.on === 'tool_call' ? this.#index.callOf(decision) : null;
    return this.#led.get(id) ?? (call === null ? null : (this.#results.get(call) ?? null));
  }
}

function intervention(index: LogIndex, node: Decision, chains: DecisionChains): Intervention {
  const { id, agentId = '', data } = node.event;
  const { hook, on, decision, reason = null, previous = null } = data;
  const subject = data.subject === undefined ? index.callOf(node) : index.find(data.subject);
  const before = chains.before(node);
  return {
    id,
    hook,
    on,
    decision,
    reason,
    agentId,
    subject: textOf(index, subject),
    previous,
    given: data.given ?? (before?.event.data.on === on ? madeBy(before) : null),
    made: madeBy(node),
    effect: effectOf(data),
    outcome: outcomeOf(index, node, chains),
    verdict: verdictOf(index, node),
  };
}

function outcomeOf(index: LogIndex, node: Decision, chains: DecisionChains): IdentifiedText | null {
  const { id, data } = node.event;
  if (data.decision === 'allow') return null;
  if (data.decision === 'deny') return textOf(index, chains.insteadOf(node));
  if (data.input !== undefined) return { id, text: compactJson(data.input) };
  return textOf(index, chains.outcomeOf(node));
}

function madeBy({ event: { data } }: Decision): string | null {
  return data.text ?? (data.input === undefined ? null : compactJson(data.input));
}

/** The first utterance among the causes of a decision. */
function verdictOf(index: LogIndex, { event }: Decision): Intervention['verdict'] {
  for (const id of [event.cause ?? []].flat()) {
    const node = id === event.data.subject ? null : index.find(id);
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
  return on === 'tool_call' ? 'stopped' : 'withheld';
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

import type { EventOf } from '@hansard/events';
import type { TranscriptEntry } from '../transcript/transcript-message.ts';
import type { GatheredLog } from './gather-log.ts';
import { isUtterance, type LogMessage, type LogNode } from './log-node.ts';
import { resolveReference } from './resolve-reference.ts';
import type { GatheredSaying, Hearing, HowHeard, Saying, Speaker } from './saying.ts';

/** The sayings of a log in its order. Each of their events and deliveries learns which it belongs to. */
export function gatherSayings(log: GatheredLog): readonly Saying[] {
  const sayings: GatheredSaying[] = [];
  const carriers: LogMessage[] = [];

  for (const piece of log.pieces) {
    const { agentId = '', data } = piece.event as EventOf<'agent:piece_of_text'>;
    addSaying(piece, 'text', { kind: 'agent', agentId }, data.text);
  }
  for (const message of log.messages) {
    const { main, entry } = message;
    const { role, source, content } = entry.message;
    if (isUtterance(message)) {
      addSaying(main, 'utterance', { kind: 'agent', agentId: entry.agentId }, content ?? '');
    } else if (role === 'user' || role === 'tool') {
      carriers.push(message);
      if (role === 'user' && main.substance === null) {
        addSaying(main, 'message', source ?? { kind: 'user' }, content ?? '');
      }
    }
  }
  for (const carrier of carriers) addHearings(carrier);
  const withheld = new Set(log.decisions.flatMap((decision) => addWithheld(decision) ?? []));
  for (const { hearings } of withheld) hearings.sort(byPosition);
  return sayings.sort(byPosition);

  function addSaying(node: LogNode, kind: Saying['kind'], speaker: Speaker, text: string): GatheredSaying {
    const { event, position } = node;
    const saying: GatheredSaying = { id: event.id, event, kind, speaker, text, position, hearings: [] };
    node.saying = saying;
    sayings.push(saying);
    return saying;
  }

  function addHearings({ main, entry }: LogMessage): void {
    const { role, source, content } = entry.message;
    let saying = carriedBy(main);
    if (saying === null && role === 'user') {
      // It carries on what nobody said, such as the result of a tool.
      const root = rootOf(main);
      const text = root.message?.entry.message.content ?? content;
      saying = addSaying(root, 'message', source ?? { kind: 'user' }, text ?? '');
      main.saying = saying;
    }
    if (saying !== null) main.hearing = addHearing(saying, entry, main);
    else if (role === 'tool') {
      // A result that was compiled from several utterances has them as its causes.
      for (const id of entry.cause ?? []) {
        const cause = resolveReference(log, id);
        const heard = cause === null ? null : carriedBy(cause);
        if (heard !== null) addHearing(heard, entry, main, cause);
      }
    }
  }

  function addHearing(
    saying: GatheredSaying,
    { agentId, message, via }: TranscriptEntry,
    node: LogNode,
    carried = node.substance,
  ): Hearing {
    const { event, position } = node;
    const text = message.content ?? '';
    const wasAltered = carried?.hearing?.how === 'altered' && carried.event !== saying.event;
    const how = isAlteration(node) ? 'altered' : howHeard(saying.text, text, wasAltered);
    const hearing = { agentId, text, how, event, position, ...(via === undefined ? {} : { via }) };
    saying.hearings.push(hearing);
    return hearing;
  }

  /** Whether a hook altered what is delivered. The decision on a call is not one on what its result carries on. */
  function isAlteration({ event: { via } }: LogNode): boolean {
    const decision = via === undefined ? null : (resolveReference(log, via)?.event ?? null);
    if (decision?.type !== 'harness:hook_decision') return via !== undefined;
    return decision.data.on !== 'tool_call' && decision.data.decision !== 'allow';
  }

  function addWithheld({ event, position }: LogNode): GatheredSaying | null {
    const { agentId = '', id: via, data } = event as EventOf<'harness:hook_decision'>;
    if (data.on !== 'delivery' || data.decision !== 'deny' || data.subject === undefined) return null;
    const subject = resolveReference(log, data.subject);
    const saying = subject === null ? null : carriedBy(subject);
    saying?.hearings.push({ agentId, text: null, how: 'withheld', event, position, via });
    return saying;
  }

  /** What an event is or carries on, over any number of deliveries. */
  function carriedBy(node: LogNode): GatheredSaying | null {
    const path: LogNode[] = [];
    let current: LogNode | null = node;
    while (current !== null && current.saying === null) {
      path.push(current);
      current = current.substance;
    }
    const saying = current?.saying ?? null;
    for (const delivery of path) delivery.saying = saying;
    return saying;
  }
}

function rootOf(node: LogNode): LogNode {
  let root = node;
  while (root.substance !== null) root = root.substance;
  return root;
}

function byPosition(one: { readonly position: number }, other: { readonly position: number }): number {
  return one.position - other.position;
}

/** Words that were altered stay so when they are passed on, unless the very words that were said come of it. */
function howHeard(said: string, received: string, wasAltered: boolean): HowHeard {
  if (received === said) return 'same';
  return received.includes(said) && !wasAltered ? 'wrapped' : 'altered';
}

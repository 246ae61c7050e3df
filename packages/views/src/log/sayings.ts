import type { TranscriptEntry } from '@hansard/prompt';
import type { EventIds } from './event-ids.ts';
import { idOfName, type LogAgent } from './log-agents.ts';
import { isUtterance, type LogMessage, type LogNode, wordsIn } from './log-node.ts';
import type { ReadLog } from './read-log.ts';
import type { Fate, Hearing, HowHeard, Saying, Speaker } from './saying.ts';

export interface GatheredSayings {
  /** In the order of the log. */
  readonly sayings: readonly Saying[];
  /** By position: the saying that the event is or carries. */
  readonly sayingAt: readonly (Saying | null)[];
  /** By position: how the content of a delivery reached its agent. */
  readonly hearingAt: readonly (Hearing | null)[];
}

/** A saying while the pass adds its hearings. */
interface OpenSaying extends Saying {
  readonly hearings: Hearing[];
}

/** The pass that finds all sayings and the agents that heard them: by substance and cause, never because texts are equal. */
export function gatherSayings(
  log: ReadLog,
  ids: Pick<EventIds, 'find'>,
  substanceAt: readonly (LogNode | null)[],
  fateOf: (node: LogNode) => Fate | null,
  agents: ReadonlyMap<string, LogAgent>,
): GatheredSayings {
  return new SayingsPass(log, ids, substanceAt, fateOf, agents).gather();
}

class SayingsPass {
  readonly #log: ReadLog;
  readonly #ids: Pick<EventIds, 'find'>;
  readonly #substanceAt: readonly (LogNode | null)[];
  readonly #fateOf: (node: LogNode) => Fate | null;
  readonly #agents: ReadonlyMap<string, LogAgent>;
  readonly #sayings: OpenSaying[] = [];
  readonly #sayingAt: (OpenSaying | null)[];
  readonly #hearingAt: (Hearing | null)[];

  constructor(
    log: ReadLog,
    ids: Pick<EventIds, 'find'>,
    substanceAt: readonly (LogNode | null)[],
    fateOf: (node: LogNode) => Fate | null,
    agents: ReadonlyMap<string, LogAgent>,
  ) {
    this.#log = log;
    this.#agents = agents;
    this.#fateOf = fateOf;
    this.#ids = ids;
    this.#substanceAt = substanceAt;
    this.#sayingAt = new Array<OpenSaying | null>(log.nodes.length).fill(null);
    this.#hearingAt = new Array<Hearing | null>(log.nodes.length).fill(null);
  }

  gather(): GatheredSayings {
    const { messages, pieces, sent, decisions } = this.#log;
    const deliveries: LogMessage[] = [];
    for (const { event, position } of pieces) {
      const { agentId = '', data } = event;
      this.#addSaying({ event, position }, 'text', { kind: 'agent', agentId }, data.text);
    }
    for (const { event, position } of sent) {
      const { agentId = '', data } = event;
      const { agent } = data.to;
      if (agent === undefined) continue;
      const speaker = { kind: 'agent', agentId } as const;
      this.#addSaying(
        { event, position },
        'text',
        speaker,
        data.text,
        idOfName(this.#agents, agent) ?? agent,
      );
    }
    for (const message of messages) {
      const { main, entry } = message;
      const { role, source } = entry.message;
      const words = wordsIn(entry.message);
      if (isUtterance(message)) {
        this.#addSaying(main, 'utterance', { kind: 'agent', agentId: entry.agentId }, words);
      } else if (role === 'user' || role === 'tool') {
        deliveries.push(message);
        if (role === 'user' && this.#substanceOf(main) === null) {
          this.#addSaying(main, 'message', source ?? { kind: 'user' }, words);
        }
      }
    }
    for (const delivery of deliveries) this.#addHearings(delivery);
    const withheld = new Set(decisions.flatMap((decision) => this.#addWithheld(decision)));
    for (const { hearings } of withheld) hearings.sort(byPosition);
    return { sayings: this.#sayings.sort(byPosition), sayingAt: this.#sayingAt, hearingAt: this.#hearingAt };
  }

  #substanceOf({ position }: LogNode): LogNode | null {
    return this.#substanceAt[position] ?? null;
  }

  #addSaying(
    { event, position }: LogNode,
    kind: Saying['kind'],
    speaker: Speaker,
    text: string,
    sentTo?: string,
  ): OpenSaying {
    // The author of a message whose origin is not here has no transcript with it.
    const fate = kind === 'message' ? null : this.#fateOf({ event, position });
    const saying: OpenSaying = {
      ...{ id: event.id, event, kind, speaker, text, position, hearings: [] },
      ...(fate === null ? {} : { fate }),
      ...(sentTo === undefined ? {} : { sentTo }),
    };
    this.#sayingAt[position] = saying;
    this.#sayings.push(saying);
    return saying;
  }

  #addHearings({ main, entry }: LogMessage): void {
    const { role, source } = entry.message;
    let saying = this.#carriedBy(main);
    if (saying === null && role === 'user') {
      // Its content is new to the conversation, such as the result of a tool that is passed on.
      const origin = this.#originOf(main);
      const text = wordsIn(this.#log.messageAt[origin.position]?.entry.message ?? entry.message);
      saying = this.#addSaying(origin, 'message', source ?? { kind: 'user' }, text);
      this.#sayingAt[main.position] = saying;
    }
    if (saying !== null) {
      this.#hearingAt[main.position] = this.#addHearing(saying, entry, main, this.#substanceOf(main));
      // What passes on another saying reaches its hearers with that, too.
      for (let passed = this.#passedOnIn(saying); passed !== null; passed = this.#passedOnIn(passed))
        this.#addHearing(passed, entry, main, this.#substanceOf(main));
    } else if (role === 'tool') {
      // The causes of a result that was compiled from several utterances are these utterances.
      for (const id of entry.cause ?? []) {
        const cause = this.#ids.find(id);
        const heard = cause === null ? null : this.#carriedBy(cause);
        if (heard !== null) this.#addHearing(heard, entry, main, cause);
      }
    }
  }

  #addHearing(
    saying: OpenSaying,
    { agentId, message, via }: TranscriptEntry,
    node: LogNode,
    carried: LogNode | null,
  ): Hearing {
    const { event, position } = node;
    const text = wordsIn(message);
    const wasAltered =
      carried !== null &&
      this.#hearingAt[carried.position]?.how === 'altered' &&
      carried.event !== saying.event;
    const how = this.#isAlteration(via) ? 'altered' : howHeard(saying.text, text, wasAltered);
    const fate = this.#fateOf(node);
    const hearing: Hearing = {
      ...{ agentId, text, how, event, position },
      ...(via === undefined ? {} : { via }),
      ...(fate === null ? {} : { fate }),
    };
    saying.hearings.push(hearing);
    return hearing;
  }

  /** Whether a hook altered what is delivered. A decision on a call does not alter the content of its result. */
  #isAlteration(via: string | undefined): boolean {
    if (via === undefined) return false;
    const decision = this.#ids.find(via)?.event;
    if (decision === undefined) return true;
    // Another event, such as the answer of a translator, says nothing about the text.
    if (decision.type !== 'harness:hook_decision') return false;
    return decision.data.on !== 'tool_call' && decision.data.decision !== 'allow';
  }

  #addWithheld({ event, position }: ReadLog['decisions'][number]): readonly OpenSaying[] {
    const { agentId = '', id: via, data } = event;
    if (data.decision !== 'deny') return [];
    const withheldIds = data.on === 'delivery' ? [data.subject ?? []].flat() : (data.madeFrom ?? []);
    const found = withheldIds.flatMap((id) => {
      const subject = this.#ids.find(id);
      return subject === null ? [] : (this.#carriedBy(subject) ?? []);
    });
    const sayings = [...new Set(found)];
    for (const { hearings } of sayings)
      hearings.push({ agentId, text: null, how: 'withheld', event, position, via });
    return sayings;
  }

  /** The saying that an event is or carries, over any number of deliveries. Stored for each delivery on the way. */
  #carriedBy(node: LogNode): OpenSaying | null {
    const passed: LogNode[] = [];
    for (let current: LogNode | null = node; current !== null; current = this.#substanceOf(current)) {
      const saying = this.#sayingAt[current.position] ?? null;
      if (saying !== null) {
        for (const { position } of passed) this.#sayingAt[position] = saying;
        return saying;
      }
      passed.push(current);
    }
    return null;
  }

  /** The saying that an utterance passes on, by its substance. */
  #passedOnIn({ kind, event, position }: Saying): OpenSaying | null {
    const carried = kind === 'utterance' ? this.#substanceOf({ event, position }) : null;
    return carried === null ? null : this.#carriedBy(carried);
  }

  #originOf(node: LogNode): LogNode {
    let origin = node;
    for (let next = this.#substanceOf(node); next !== null; next = this.#substanceOf(next)) origin = next;
    return origin;
  }
}

function byPosition(one: { readonly position: number }, other: { readonly position: number }): number {
  return one.position - other.position;
}

/** An altered text that is passed on stays altered, unless it is again exactly what was said. */
function howHeard(said: string, received: string, wasAltered: boolean): HowHeard {
  if (received === said) return 'same';
  return received.includes(said) && !wasAltered ? 'wrapped' : 'altered';
}

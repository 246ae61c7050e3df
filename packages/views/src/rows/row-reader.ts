import type { CapturedEvent, EventData, EventOf } from '@hansard/events';
import { isPlainObject, isReadableAs, isRemovedContent, shownEvent } from '@hansard/events/plain';
import type { LinkReading } from '../audience/delivery-record.ts';
import type { LogNode } from '../log/log-node.ts';
import type { HowHeard } from '../log/saying.ts';
import { callsOfRecord, isNoise } from './noise.ts';
import { OpenGroups, type RowReach } from './open-groups.ts';
import type { Row, RowAgent, RowKind, RowPart } from './row.ts';
import { RowAgents } from './row-agents.ts';
import { type GroupedDecision, type RowGroup, textOf } from './row-group.ts';
import { rowOf } from './row-of.ts';
import type { RowChoice } from './row-query.ts';

const mostOutputs = 20;

export interface RowReaderOptions extends RowReach {
  /** The position of the first event that is added. Absent: 0. */
  readonly first?: number;
  /**
   * Some events before the first one. `agent:created` and `agent:terminated` say which agents there are. The first
   * `agent:inference` with a context and the first events with a substance say what kind of log it is. Each
   * `content:stored` whose bytes were removed is among them, too.
   */
  readonly agents?: Iterable<CapturedEvent>;
  /** Whether only the events of each row are wanted. Who heard a row, and who its agent is, is then not known. Absent: false. */
  readonly groupsOnly?: boolean;
}

/**
 * Makes rows of the events of one dispatch, given one by one in append order. It keeps only the rows that can still change.
 *
 * 1. `add` puts the event into one row: a new one, or an earlier one that it completes.
 * 2. `settled` takes the rows that no later event can change; `end` takes all others.
 * 3. Invariant: the rows depend on the events and the reach alone, and not on when `settled` is called.
 *
 * It can begin in the middle of a dispatch. A row then lacks what was said, called or decided before the first event, and a result or a
 * delivery of it is a row of its own. So begin twice the reach before the rows that you want, and end one reach after them. What such a
 * reader cannot know: where a run of noise is divided that is longer than the reach, and agents that only their events show.
 */
export class RowReader {
  readonly #agents = new RowAgents();
  readonly #open: OpenGroups;
  readonly #reach: RowReach;
  readonly #links: LinkReading;
  /** The digests of contents whose bytes were removed. */
  readonly #removed = new Set<string>();
  /** The latest outputs in files of their own, the last one first. */
  readonly #outputs: LogNode[] = [];
  readonly #groupsOnly: boolean;
  /** The positions of the rows that the event that is added has changed. */
  readonly #changed = new Set<number>();
  #position: number;

  constructor({ first = 0, agents = [], groupsOnly = false, ...reach }: RowReaderOptions = {}) {
    this.#reach = reach;
    this.#groupsOnly = groupsOnly;
    this.#open = new OpenGroups(reach, (group) => {
      group.notKnown = groupsOnly ? [] : this.#agents.notKnownOf(group);
    });
    this.#links = {
      callOf: (event) => this.#open.unansweredCall(event)?.main.event ?? null,
      isSaid: (id) => this.#open.saying(id) !== null,
    };
    this.#position = first;
    for (const event of agents) {
      this.#agents.learn(event, () => null);
      this.#learnRemoved(event);
      this.#agents.observe(event, -1, this.#links);
    }
  }

  /** Adds the next event. Returns the positions of the rows that changed, first that of the row that has the event. */
  add(event: CapturedEvent): readonly number[] {
    const node: LogNode = { event, position: this.#position };
    this.#position += 1;
    this.#open.advance(node);
    if (this.#groupsOnly) return [this.#group(node, this.#changed).position];
    this.#learnRemoved(event);
    this.#agents.learn(event, (id) => this.#open.of(id)?.agent.agentId ?? null);
    const changed = this.#changed;
    changed.clear();
    // What a result carries is known before it is joined to its call.
    const changedFrom = this.#agents.observe(event, node.position, this.#links);
    const group = this.#group(node, changed);
    for (const { position } of this.#open.heardFrom(changedFrom)) changed.add(position);
    changed.delete(group.position);
    return changed.size === 0 ? [group.position] : [group.position, ...changed];
  }

  /** Puts an event into its row. */
  #group(node: LogNode, changed: Set<number>): RowGroup {
    const group = this.#join(node, changed) ?? this.#begin(node);
    if (group.events.at(-1) !== node.position) group.events.push(node.position);
    this.#open.name(group, node.event.id);
    return group;
  }

  /** Takes the next event as one that no row has. */
  pass(event: CapturedEvent): void {
    this.#agents.learn(event, () => null);
    this.#learnRemoved(event);
    this.#position += 1;
  }

  /** A row as it is now; null: it is settled and taken, or no row has this position. */
  at(position: number): Row | null {
    const group = this.#open.at(position);
    return group === null ? null : this.#rowOf(group);
  }

  /** Takes the rows that no later event can change, in order. With a query: returns those that match, and makes few others. */
  settled(query?: RowChoice): readonly Row[] {
    return this.#rowsOf(this.#open.takeSettled(), query);
  }

  /** Takes all other rows, after the last event: the last one of the log, or of a part of it. */
  end(query?: RowChoice, { isEndOfLog = true }: { readonly isEndOfLog?: boolean } = {}): Row[] {
    this.#agents.end();
    const groups = this.#open.takeAll();
    if (!isEndOfLog) for (const group of groups) group.isOutOfReach = true;
    const rows = this.#rowsOf(groups, query);
    query?.atEnd?.((group) => this.#rowOf(group));
    return rows;
  }

  #rowsOf(groups: readonly RowGroup[], query: RowChoice | undefined): Row[] {
    // Most events settle no row.
    if (groups.length === 0) return [];
    if (query === undefined) return groups.map((group) => this.#rowOf(group));
    return groups
      .filter((group) => query.couldMatch(group))
      .map((group) => this.#rowOf(group))
      .filter((row) => query.matches(row));
  }

  #learnRemoved(event: CapturedEvent): void {
    if (isReadableAs(event, 'content:stored') && isRemovedContent(event.data)) this.#removed.add(event.id);
  }

  #rowOf(group: RowGroup): Row {
    const row = rowOf(group, this.#agents, this.#reach);
    return this.#removed.size === 0 ? row : markRemoved(row, this.#removed);
  }

  /** The earlier row that an event completes. */
  #join(node: LogNode, changed: Set<number>): RowGroup | null {
    const { event } = node;
    if (isReadableAs(event, 'agent:tool_result')) return this.#joinResult({ ...node, event }, changed);
    if (isReadableAs(event, 'harness:hook_decision')) return this.#joinDecision({ ...node, event }, changed);
    if (isReadableAs(event, 'user:message')) {
      const said = this.#open.saying(event.substance);
      if (said !== null) this.#hearAll(said, node, event.data.text, changed);
      else this.#receiveInstead(node, event.data.text, changed);
      return said;
    }
    if (isReadableAs(event, 'agent:inference')) {
      const group = this.#open.message(event);
      if (group !== null) group.inference = { ...node, event };
      return group;
    }
    if (event.type === 'agent:message_sent' && isReadableAs(event, 'agent:message_sent'))
      return this.#callThatSent(event);
    // A report of an agent stands between its answer and the result that carries it.
    const reported = event.type === 'system:agent_report' ? this.#open.saying(event.substance) : null;
    if (reported !== null) this.#open.carry(reported, event.id);
    if (isNoise(event)) {
      const isOutput = event.type === 'system:tool_output';
      const call = isOutput ? this.#open.outputOf(event.data) : this.#open.callAmong(callsOfRecord(event));
      if (isOutput) this.#keepOutput(node);
      const run = call ?? this.#open.run();
      run?.folded.push(node);
      return run;
    }
    return isBlock(event) ? this.#takeOver(node, changed) : null;
  }

  /** The call of a tool that sent a message, if its input has the whole text: then the text is shown once. */
  #callThatSent({ cause, data }: EventOf<'agent:message_sent'>): RowGroup | null {
    for (const id of [cause ?? []].flat()) {
      const call = this.#open.of(id);
      if (call === null || !isReadableAs(call.main.event, 'agent:tool_call')) continue;
      const { input } = call.main.event.data;
      if (isPlainObject(input) && Object.values(input).includes(data.text)) return call;
    }
    return null;
  }

  #joinResult(node: LogNode<EventOf<'agent:tool_result'>>, changed: Set<number>): RowGroup | null {
    const { substance, cause } = node.event;
    const text = typeof node.event.data.output === 'string' ? node.event.data.output : '';
    // A result can carry one utterance, or be made from several.
    for (const id of substance === undefined ? [cause ?? []].flat() : [substance]) {
      const said = this.#open.saying(id);
      if (said === null) continue;
      this.#hearAll(said, node, text, changed);
      if (substance !== undefined) this.#open.carry(said, node.event.id);
      changed.add(said.position);
    }
    const call = this.#open.unansweredCall(node.event);
    if (call !== null) call.result = node;
    if (call !== null) this.#joinOutput(call, node.event.data);
    return call;
  }

  /** An output in a file of its own can be recorded before the result that names it, and after. */
  #joinOutput(call: RowGroup, { toolCallId, metadata }: EventData<'agent:tool_result'>): void {
    const { outputFile } = metadata;
    this.#open.nameOutput(call, outputFile);
    const early = this.#outputs.find(
      ({ event: { data } }) => data.file === outputFile || data.toolUseID === toolCallId,
    );
    if (early !== undefined && !call.folded.includes(early)) call.folded.push(early);
  }

  #keepOutput(node: LogNode): void {
    this.#outputs.unshift(node);
    this.#outputs.splice(mostOutputs);
  }

  #joinDecision(node: LogNode<EventOf<'harness:hook_decision'>>, changed: Set<number>): RowGroup | null {
    const { data } = node.event;
    for (const id of data.decision === 'deny' ? (data.madeFrom ?? []) : []) {
      const said = this.#open.saying(id);
      if (said === null) continue;
      withhold(said, node, this.#agents.of(node.event.agentId));
      changed.add(said.position);
    }
    const isDelivery = data.on === 'delivery';
    const group = isDelivery ? this.#open.saying(data.subject) : this.#open.call(node.event);
    if (group === null) return null;
    group.decisions.push(this.#decisionOf(node));
    if (isDelivery && data.decision === 'deny') withhold(group, node, this.#agents.of(node.event.agentId));
    return group;
  }

  #decisionOf(node: LogNode<EventOf<'harness:hook_decision'>>): GroupedDecision {
    const subject = this.#open.saying(node.event.data.subject);
    const [verdict] = [node.event.cause ?? []].flat().flatMap((id) => {
      const group = this.#open.of(id);
      return group?.kind === 'said' && group !== subject ? [group] : [];
    });
    return {
      ...node,
      agent: this.#agents.of(node.event.agentId),
      verdict:
        verdict === undefined
          ? null
          : {
              position: verdict.position,
              agent: verdict.agent,
              text: String(shownEvent(verdict.main.event).data.text),
            },
      instead: null,
    };
  }

  /** A message that is new can come in the place of one that a hook withheld. */
  #receiveInstead({ event, position }: LogNode, text: string, changed: Set<number>): void {
    if (event.via === undefined) return;
    const group = this.#open.of(event.via);
    const decision = group?.decisions.find(({ event: { id } }) => id === event.via);
    if (group == null || decision === undefined || decision.event.data.decision !== 'deny') return;
    decision.instead ??= { position, agent: this.#agents.of(event.agentId), text };
    changed.add(group.position);
  }

  /** The first block of a message takes over the row of its model call; a call makes the texts beside it asides. */
  #takeOver(node: LogNode, changed: Set<number>): RowGroup | null {
    const { event } = node;
    if (event.type === 'agent:tool_call')
      for (const text of this.#open.textsOf(event)) {
        text.kind = 'aside';
        changed.add(text.position);
      }
    const model = this.#open.modelRow(event);
    if (model === null) return null;
    model.main = node;
    model.kind = this.#kindOf(event);
    this.#open.nameBlock(model);
    return model;
  }

  #begin(node: LogNode): RowGroup {
    const { event, position } = node;
    const agent = this.#agents.of(event.agentId);
    const kind = this.#kindOf(event);
    const speaker = kind === 'message' ? this.#agents.speakerOf(event) : agent.agentId;
    const group: RowGroup = {
      position,
      id: event.id,
      timestamp: event.timestamp,
      agent,
      kind,
      main: node,
      isOutOfReach: false,
      result: null,
      inference: isReadableAs(event, 'agent:inference') ? { ...node, event } : null,
      decisions: isReadableAs(event, 'harness:hook_decision') ? [this.#decisionOf({ ...node, event })] : [],
      hearings: [],
      notKnown: null,
      company: isTalk(event) && !this.#groupsOnly ? this.#agents.presentBeside(speaker) : [],
      folded: kind === 'noise' ? [node] : [],
      events: [position],
      names: [],
      readBefore: 0,
    };
    this.#open.add(group);
    if (kind === 'message') this.#hear(group, node, String(event.data.text));
    return group;
  }

  /** Of an utterance that passes on another one, its hearers have heard that, too. */
  #hearAll(said: RowGroup, node: LogNode, text: string, changed: Set<number>): void {
    if (this.#groupsOnly) return;
    this.#hear(said, node, text);
    for (let last = said; last.kind === 'said'; ) {
      const passedOn = this.#open.saying(last.main.event.substance);
      if (passedOn === null || passedOn.position >= last.position) return;
      this.#hear(passedOn, node, text);
      changed.add(passedOn.position);
      last = passedOn;
    }
  }

  #hear(group: RowGroup, node: LogNode, text: string): void {
    if (this.#groupsOnly) return;
    const { via, agentId } = node.event;
    const isAltered = via !== undefined && group.main !== node && this.#open.isAlteration(via);
    hear(group, node, { text, agent: this.#agents.of(agentId), isAltered });
  }

  #kindOf(event: CapturedEvent): RowKind {
    if (isReadableAs(event, 'agent:text')) return this.#open.hasCall(event) ? 'aside' : 'said';
    if (isReadableAs(event, 'agent:thinking')) return 'thought';
    if (isReadableAs(event, 'agent:tool_call')) return 'call';
    if (isReadableAs(event, 'user:message')) return 'message';
    return isNoise(event) ? 'noise' : 'event';
  }
}

function isBlock(event: CapturedEvent): boolean {
  return (
    isReadableAs(event, 'agent:text') ||
    isReadableAs(event, 'agent:thinking') ||
    isReadableAs(event, 'agent:tool_call')
  );
}

/** Whether an event can be received by others. */
function isTalk(event: CapturedEvent): boolean {
  return event.type === 'agent:text' || event.type === 'agent:piece_of_text' || event.type === 'user:message';
}

/** Adds a delivery to the row of what was said. */
function hear(
  group: RowGroup,
  { event, position }: LogNode,
  {
    text,
    agent,
    isAltered,
  }: { readonly text: string; readonly agent: RowAgent; readonly isAltered: boolean },
): void {
  const { substance, id: eventId } = event;
  const passedOn = group.hearings.find((earlier) => earlier.eventId === substance);
  const how = isAltered ? 'altered' : howHeard(textOf(group), text, passedOn?.how);
  group.hearings.push({ agent, how, position, eventId, text });
}

/** Adds the decision that kept what was said from an agent. */
function withhold(group: RowGroup, { event, position }: LogNode, agent: RowAgent): void {
  group.hearings.push({ agent, how: 'withheld', position, eventId: event.id, text: null });
}

/** An altered text that is passed on stays altered, unless it is again exactly what was said. */
function howHeard(said: string, received: string, passedOn: HowHeard | undefined): HowHeard {
  if (received === said) return 'same';
  return received.includes(said) && passedOn !== 'altered' ? 'wrapped' : 'altered';
}

/** A row whose parts say which of them were removed. */
function markRemoved(row: Row, removed: ReadonlySet<string>): Row {
  const marked = (parts: readonly RowPart[]) =>
    parts.map((part) =>
      part.kind === 'media' && removed.has(part.media.sha256 ?? '')
        ? { ...part, isRemoved: true as const }
        : part,
    );
  const { content, call } = row;
  return {
    ...row,
    content: marked(content),
    ...(call && { call: { ...call, outcome: call.outcome === null ? null : marked(call.outcome) } }),
  };
}

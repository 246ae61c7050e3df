import type { TranscriptStep, TranscriptTree } from '@hansard/prompt';
import { type LogIndex, rootAgentOf } from '../log/log-index.ts';
import type { LogMessage, LogNode } from '../log/log-node.ts';
import { AgentKnowledge, readAgentKnowledge, received } from './agent-knowledge.ts';
import type { GivenAnswer } from './given-answer.ts';
import { type FoldedLog, KnowledgeFold, recordedCalls } from './knowledge-fold.ts';
import type { KnownItem } from './known-item.ts';

/** What each agent of a log knew: the one object that all views of knowledge and causes read. */
export interface Knowledge {
  /** By agent id. */
  readonly agents: ReadonlyMap<string, AgentKnowledge>;
  /** The answer that an event is a block or the `agent:inference` of, with what its model was given; null: no answer. */
  answerOf(node: LogNode): GivenAnswer | null;
}

const computed = new WeakMap<LogIndex, Knowledge>();

/** Computed at the first call for an index, then kept with it. */
export function knowledgeOf(index: LogIndex): Knowledge {
  let knowledge = computed.get(index);
  if (knowledge === undefined) {
    knowledge = readKnowledge(index);
    computed.set(index, knowledge);
  }
  return knowledge;
}

function readKnowledge(index: LogIndex): Knowledge {
  const root = rootAgentOf(index);
  const agents =
    index.tree === null ? readStraight(index, root) : BranchedKnowledge.read(index, index.tree, root);
  return {
    agents,
    answerOf(node) {
      const { agentId = root, messageId, type } = node.event;
      const block = type === 'agent:inference' && messageId !== undefined ? index.find(messageId) : node;
      const message = block === null ? null : index.messageOf(block);
      return message === null ? null : (agents.get(agentId)?.answerOf(message) ?? null);
    },
  };
}

function readStraight(index: LogIndex, root: string): Knowledge['agents'] {
  const log = {
    ...{ index, calls: recordedCalls(index, root), isCompacted: true },
    ...{ orderOf: ({ position }: LogNode) => position, answers: new Map(), replaced: new Map() },
  };
  const byAgent = Map.groupBy(index.nodes, ({ event: { agentId = root } }) => agentId);
  return new Map([...byAgent].map(([agentId, nodes]) => [agentId, readAgentKnowledge(log, nodes)] as const));
}

/** The fold of the path to an entry. */
interface PathFold {
  readonly fold: KnowledgeFold;
  /** The events of the path whose place in the prompt depends on the next call. */
  readonly undecided: readonly LogNode[];
  readonly agentId: string;
  /** How many records of its agent were considered. */
  readonly records: number;
  /** How many retractions of the log were considered. */
  readonly retractions: number;
}

/** An agent whose transcript is a tree. */
interface BranchedAgent {
  readonly steps: readonly TranscriptStep<LogNode>[];
  /** Its `agent:inference` events, in the order of the log. */
  readonly records: readonly LogNode[];
  /** Its `agent:inference` events and its entries, by the id of their message. */
  readonly recordsOf: ReadonlyMap<string, readonly LogNode[]>;
  readonly blocks: ReadonlyMap<string, readonly LogNode[]>;
  /** By position, of its events during calls that record what they were given. `own`: blocks of the answer to the only such call. */
  readonly duringCalls: ReadonlyMap<number, 'own' | 'others'>;
}

/**
 * Folds the transcripts of a log with branches. Each entry is folded once, on top of the fold of the path before it. The exceptions are
 * a retraction, after which the path is folded anew, and an answer whose manifest names another path than its own.
 *
 * Invariant: the fold of a path has the events of `TranscriptTree.pathBefore` for the next entry, in the order of `GivenOrder`.
 */
class BranchedKnowledge {
  readonly #log: FoldedLog;
  readonly #tree: TranscriptTree<LogNode>;
  readonly #root: string;
  readonly #retractions: TranscriptTree<LogNode>['retractions'];
  /** Entries that were retracted before they came: they are in no prompt. */
  readonly #neverShown: ReadonlySet<LogNode>;
  readonly #agents = new Map<string, BranchedAgent>();
  readonly #before = new Map<LogNode, LogNode | null>();
  /** The entries that several others follow, or that another agent inherits: their folds stay as they are. */
  readonly #shared = new Set<LogNode>();
  readonly #folds = new Map<LogNode, PathFold>();
  readonly #items = new Map<LogNode, KnownItem>();
  readonly #done = new Set<string>();

  private constructor(index: LogIndex, tree: TranscriptTree<LogNode>, root: string) {
    this.#tree = tree;
    this.#root = root;
    this.#retractions = tree.retractions;
    this.#neverShown = new Set(
      this.#retractions.flatMap(({ of, by }) => (by.position < of.position ? of : [])),
    );
    const levels = new Map<string, number>();
    this.#log = {
      index,
      calls: recordedCalls(index, root),
      isCompacted: index.events.some(({ type }) => type === 'session:compaction'),
      // An inherited head can come later in the log than what follows it.
      orderOf: (node) => this.#levelOf(this.#agentOf(node), levels) * index.nodes.length + node.position,
      answers: new Map(),
      replaced: new Map(),
      found: (item) => {
        if (!this.#items.has(item.node)) this.#items.set(item.node, item);
      },
    };
  }

  static read(
    index: LogIndex,
    tree: TranscriptTree<LogNode>,
    root: string,
  ): ReadonlyMap<string, AgentKnowledge> {
    const knowledge = new BranchedKnowledge(index, tree, root);
    const agentIds = new Set(index.nodes.map((node) => knowledge.#agentOf(node)));
    for (const agentId of agentIds) knowledge.#read(agentId);
    for (const agentId of agentIds) knowledge.#fold(agentId);
    const answers = Map.groupBy(knowledge.#log.answers, ([{ main }]) => knowledge.#agentOf(main));
    const items = Map.groupBy(knowledge.#items.values(), ({ node }) => knowledge.#agentOf(node));
    const agents = [...agentIds].map((agentId) => {
      const own = new Map(answers.get(agentId));
      return [agentId, knowledge.#knowledgeOf(agentId, items.get(agentId) ?? [], own)] as const;
    });
    return new Map(agents);
  }

  #knowledgeOf(
    agentId: string,
    own: readonly KnownItem[],
    answers: ReadonlyMap<LogMessage, GivenAnswer>,
  ): AgentKnowledge {
    const items = () => {
      const head = this.#tree.headOf(agentId);
      const inherited = head === null ? null : this.#tree.pathThrough(head.event.id);
      return [...(inherited === null ? [] : this.#whole(inherited.values).items), ...own];
    };
    const receivedAt = (position: number) => {
      const path = this.#tree.currentPath(agentId, this.#log.index.nodes[position]?.event.id);
      const fold = this.#whole(path.values);
      return received(fold.items, fold, Number.POSITIVE_INFINITY);
    };
    return new AgentKnowledge({ items, answers, receivedAt, replaced: this.#log.replaced });
  }

  #agentOf({ event: { agentId = this.#root } }: LogNode): string {
    return agentId;
  }

  #levelOf(agentId: string, levels: Map<string, number>): number {
    const known = levels.get(agentId);
    if (known !== undefined) return known;
    levels.set(agentId, 0);
    const head = this.#tree.headOf(agentId);
    const level = head === null ? 0 : this.#levelOf(this.#agentOf(head), levels) + 1;
    levels.set(agentId, level);
    return level;
  }

  #read(agentId: string): void {
    const steps = [...this.#tree.steps(agentId)];
    const followed = new Set<LogNode>();
    const blocks = new Map<string, LogNode[]>();
    for (const { value, isEntry, before } of steps) {
      this.#before.set(value, before);
      if (!isEntry) continue;
      const { messageId } = value.event;
      if (messageId !== undefined) blocks.set(messageId, [...(blocks.get(messageId) ?? []), value]);
      if (before === null) continue;
      if (followed.has(before) || this.#agentOf(before) !== agentId) this.#shared.add(before);
      followed.add(before);
    }
    const records = steps.flatMap(({ value }) => (value.event.type === 'agent:inference' ? value : []));
    const recordsOf = Map.groupBy(records, ({ event: { messageId = '' } }) => messageId);
    const duringCalls = this.#duringCalls(agentId, steps);
    this.#agents.set(agentId, { steps, records, recordsOf, blocks, duringCalls });
  }

  #duringCalls(agentId: string, steps: BranchedAgent['steps']): BranchedAgent['duringCalls'] {
    const calls = [...(this.#log.calls.get(agentId) ?? [])];
    const spans = calls.map(([messageId, { inference, last }]) => {
      const from = last === null || this.#agentOf(last) !== agentId ? -1 : last.position;
      return { messageId, from, to: inference.position };
    });
    spans.sort((one, other) => one.from - other.from);
    const during = new Map<number, 'own' | 'others'>();
    /** The two calls that end last. */
    let open: typeof spans = [];
    let at = 0;
    for (const { value } of steps) {
      for (let next = spans[at]; next !== undefined && next.from < value.position; next = spans[at]) {
        open = [...open, next].sort((one, other) => other.to - one.to).slice(0, 2);
        at += 1;
      }
      const around = open.filter(({ to }) => value.position < to);
      const [call] = around;
      if (call === undefined) continue;
      const isOwn = around.length === 1 && call.messageId === value.event.messageId;
      during.set(value.position, isOwn ? 'own' : 'others');
    }
    return during;
  }

  /** Folds all paths of an agent, after those of the agent that it inherits from. */
  #fold(agentId: string): void {
    if (this.#done.has(agentId)) return;
    this.#done.add(agentId);
    const head = this.#tree.headOf(agentId);
    if (head !== null) this.#fold(this.#agentOf(head));
    const steps = this.#agents.get(agentId)?.steps ?? [];
    for (const { value, isEntry, before } of steps) if (isEntry) this.#takeEntry(agentId, value, before);
    // What came during a call without an end.
    for (const { value } of steps) {
      const path = this.#folds.get(value);
      if (path !== undefined && path.undecided.length > 0) settle({ ...path, fold: path.fold.fork() });
    }
  }

  #takeEntry(agentId: string, node: LogNode, before: LogNode | null): void {
    let path = this.#upTo(agentId, node, before);
    const isNeverShown = this.#neverShown.has(node);
    const isGivenPath = this.#beginsAnswer(node) && !this.#takeFromOtherPath(agentId, node);
    if (isNeverShown || (isGivenPath && (path.undecided.length > 0 || this.#isUndecided(path, node))))
      path = this.#takeAside(path, node);
    if (!isNeverShown) path = this.#withEarlierRecords(path, node);
    this.#folds.set(node, isNeverShown ? path : this.#add(path, node));
  }

  /** A block can bring a message onto the path whose call was recorded before it. */
  #withEarlierRecords(path: PathFold, node: LogNode): PathFold {
    const { agentId } = path;
    const { blocks, recordsOf } = this.#agents.get(agentId) ?? {};
    const { messageId = '' } = node.event;
    const earlier = (recordsOf?.get(messageId) ?? []).filter(({ position }) => position < node.position);
    if (earlier.length === 0 || this.#hasAny(path, blocks?.get(messageId))) return path;
    const { values = [] } = this.#tree.pathBefore(node.event.id) ?? {};
    const head = values.filter((value) => this.#agentOf(value) !== agentId);
    const own = [...values.filter((value) => this.#agentOf(value) === agentId), ...earlier];
    own.sort((one, other) => one.position - other.position);
    const { records, retractions } = path;
    return { ...this.#anew([...head, ...own], agentId), records, retractions };
  }

  #hasAny({ fold, undecided }: PathFold, blocks: readonly LogNode[] = []): boolean {
    return blocks.some((block) => fold.has(block) || undecided.includes(block));
  }

  #beginsAnswer(node: LogNode): boolean {
    const message = this.#log.index.messageOf(node);
    return message?.entry.message.role === 'assistant' && message.blocks[0] === node;
  }

  /** What the model of an answer was given does not depend on the calls that were open then. Returns the path without the event. */
  #takeAside(path: PathFold, node: LogNode): PathFold {
    settle({ ...path, fold: path.fold.fork(), undecided: [...path.undecided, node] });
    return { ...path, fold: path.fold.fork() };
  }

  /** The fold of the path before an entry, with what was recorded until then. */
  #upTo(agentId: string, node: LogNode, before: LogNode | null): PathFold {
    const known = before === null ? undefined : this.#folds.get(before);
    let path = known ?? newPath(this.#log, agentId);
    if (before !== null && known !== undefined) {
      if (this.#shared.has(before)) path = { ...path, fold: path.fold.fork() };
      else this.#folds.delete(before);
    }
    if (path.agentId !== agentId) path = this.#enter(agentId, path);
    path = this.#addRecords(path, node.position);
    let { retractions } = path;
    let isCut = false;
    for (
      let next = this.#retractions[retractions];
      next !== undefined;
      next = this.#retractions[retractions]
    ) {
      // An answer was not given what it retracts itself.
      if (next.by.position > node.position) break;
      isCut ||= before !== null && this.#tree.isOnPath(next.of.event.id, before.event.id);
      retractions += 1;
    }
    if (!isCut) return { ...path, retractions };
    // An entry that was retracted before its place was decided counts as received.
    settle({ ...path, fold: path.fold.fork() });
    const { values = [] } = this.#tree.pathBefore(node.event.id) ?? {};
    return { ...this.#anew(values, agentId), records: path.records, retractions };
  }

  /** Continues a transcript after what it inherits: the calls of that are known, also if their records come later in the log. */
  #enter(agentId: string, path: PathFold): PathFold {
    const { fold, retractions } = settle(this.#addRecords(path, Number.POSITIVE_INFINITY));
    return { fold, undecided: [], agentId, records: 0, retractions };
  }

  /** Adds the records before a position of answers that are on the path. */
  #addRecords(path: PathFold, end: number): PathFold {
    const { records: all = [], blocks } = this.#agents.get(path.agentId) ?? {};
    let added = path;
    let { records } = path;
    for (let next = all[records]; next !== undefined && next.position < end; next = all[records]) {
      if (this.#hasAny(added, blocks?.get(next.event.messageId ?? ''))) added = this.#add(added, next);
      records += 1;
    }
    return records === path.records ? path : { ...added, records };
  }

  /** Adds an event to a path: what came during a call is behind its answer. */
  #add(path: PathFold, node: LogNode): PathFold {
    const { fold, agentId } = path;
    let { undecided } = path;
    const isInference = node.event.type === 'agent:inference';
    if (isInference) {
      const last = this.#lastGiven(agentId, node);
      const isLate = ({ event, position }: LogNode) =>
        event.type !== 'session:compaction' && event.messageId !== node.event.messageId && position > last;
      for (const one of undecided) if (!isLate(one)) fold.take(one);
      undecided = undecided.filter(isLate);
      fold.take(node);
    }
    const added = isInference ? { ...path, undecided } : { ...path, undecided: [...undecided, node] };
    return this.#isUndecided(path, node) ? added : settle(added);
  }

  /** Whether the place of an event behind a path depends on the next call. */
  #isUndecided({ agentId, undecided }: PathFold, node: LogNode): boolean {
    const during = this.#agents.get(agentId)?.duringCalls.get(node.position);
    return during === 'others' || (during === 'own' && undecided.length > 0);
  }

  /** The position of the last event that the call of an answer was given. */
  #lastGiven(agentId: string, { event }: LogNode): number {
    const call = this.#log.calls.get(agentId)?.get(event.messageId ?? '');
    if (call === undefined) return Number.POSITIVE_INFINITY;
    return call.last === null || this.#agentOf(call.last) !== agentId ? -1 : call.last.position;
  }

  /** Whether the manifest of an answer names another path than its own; the answer was given the path of the manifest. */
  #takeFromOtherPath(agentId: string, node: LogNode): boolean {
    const { messageId = node.event.id } = node.event;
    const last = this.#log.calls.get(agentId)?.get(messageId)?.last ?? null;
    if (last === null || this.#isOnOwnPath(agentId, node, last)) return false;
    this.#anew(this.#tree.currentPath(agentId, last.event.id).values, agentId, node);
    return true;
  }

  /** Whether the path before an answer was current after the last event that its call was given, and is as it was then. */
  #isOnOwnPath(agentId: string, node: LogNode, last: LogNode): boolean {
    if (this.#agentOf(last) !== agentId) return true;
    let end = this.#before.get(node) ?? null;
    while (end !== null && this.#agentOf(end) === agentId && end.position > last.position)
      end = this.#before.get(end) ?? null;
    if (end !== this.#tree.currentEnd(agentId, last.event.id)) return false;
    return this.#retractions.every(({ by }) => by.position <= last.position || by.position >= node.position);
  }

  /** Folds a path from its beginning. `answer`: an event that is folded last. */
  #anew(values: readonly LogNode[], agentId: string, answer?: LogNode): PathFold {
    const [first] = values;
    let path = newPath(this.#log, first === undefined ? agentId : this.#agentOf(first));
    for (const node of values) {
      const owner = this.#agentOf(node);
      if (owner !== path.agentId) path = { ...settle(path), agentId: owner };
      path = this.#add(path, node);
    }
    if (path.agentId !== agentId) path = { ...settle(path), agentId };
    return answer === undefined ? path : settle({ ...path, undecided: [...path.undecided, answer] });
  }

  #whole(values: readonly LogNode[]): KnowledgeFold {
    const [first] = values;
    return first === undefined
      ? new KnowledgeFold(this.#log)
      : settle(this.#anew(values, this.#agentOf(values.at(-1) ?? first))).fold;
  }
}

function newPath(log: FoldedLog, agentId: string): PathFold {
  return { fold: new KnowledgeFold(log), undecided: [], agentId, records: 0, retractions: 0 };
}

/** Takes what is undecided in the order of the log. */
function settle(path: PathFold): PathFold {
  for (const node of path.undecided) path.fold.take(node);
  return path.undecided.length === 0 ? path : { ...path, undecided: [] };
}

import type { CapturedEvent } from '@hansard/events';
import { numberMessages } from '@hansard/facts';
import { putTogether, type TranscriptEntry } from '@hansard/prompt';
import { causalGraph, type GraphLink } from '../causes/causal-graph.ts';
import { agentNamed } from '../log/log-agents.ts';
import { createLogIndex, type LogIndex, nodeNamed } from '../log/log-index.ts';
import type { LogNode } from '../log/log-node.ts';
import { renderPerspective } from '../words/dialog-words.ts';
import { type DialogRow, dialogOf } from './dialog.ts';
import { perspectiveOf } from './perspective.ts';
import type { SessionSource } from './render-session-view.ts';

/**
 * The views of a session log under the names that its dialects use (S11). It takes the events of a log, such as those of a file that
 * `@hansard/formats` read; `open` takes a session of a store. What was added to an imported log has the numbers that follow (`msg_021`).
 * Agents are named by id or name. All methods throw a TypeError for an agent or an id that is not in the log.
 */
export class SessionViewer {
  readonly index: LogIndex;

  constructor(events: readonly CapturedEvent[]) {
    this.index = createLogIndex(numberMessages(events));
  }

  /** Reads a session of a store. @throws what the store throws for a dispatch that does not exist */
  static async open(
    store: Pick<SessionSource, 'getDispatchEvents'>,
    { taskDir, dispatchId }: { readonly taskDir: string; readonly dispatchId: string },
  ): Promise<SessionViewer> {
    return new SessionViewer(await store.getDispatchEvents(taskDir, dispatchId));
  }

  /** The name of each agent by its id; the id itself if it has no name. */
  listAgents(): Map<string, string> {
    return new Map([...this.index.agents.values()].map(({ agentId, name }) => [agentId, name ?? agentId]));
  }

  /** The messages of one agent on its current branch, in order, with those that it inherits. */
  getTranscript(agent: string): TranscriptEntry[] {
    const { agentId } = agentNamed(this.index, agent);
    const { tree, transcripts } = this.index;
    if (tree === null || tree.isStraight(agentId))
      return (transcripts.get(agentId) ?? []).map(({ entry }) => entry);
    const path = tree.currentPath(agentId).values.filter((node) => this.#isReadable(node));
    return putTogether(path.map(({ event }) => event));
  }

  /** The sayings among the agents, each once: see `dialogOf`. */
  extractDialog(agents: readonly string[]): DialogRow[] {
    return dialogOf(this.index, agents);
  }

  /** All that an agent heard, thought, did, received and said, as text: see `perspectiveOf`. */
  extractAgentPerspective(agent: string): string {
    return renderPerspective(this.index, perspectiveOf(this.index, agent));
  }

  /** For each message id, the id of its parent: what it passed through, its cause, its substance, or otherwise the last message that it answers. */
  buildCausalityIndex(): Map<string, string> {
    const parents = new Map<string, string>();
    for (const node of this.index.nodes) {
      const parent = this.#parentOf(node);
      const id = messageIdOf(node);
      if (parent !== null && !parents.has(id)) parents.set(id, messageIdOf(parent));
    }
    return parents;
  }

  /** The chain of causes that ends in a message, oldest first. */
  traceMessageFlow(messageId: string): CapturedEvent[] {
    const chain = new Set<LogNode>();
    let current: LogNode | null = nodeNamed(this.index, messageId);
    while (current !== null && !chain.has(current)) {
      chain.add(current);
      current = this.#parentOf(current);
    }
    return [...chain].map(({ event }) => event).reverse();
  }

  /** The messages whose recorded substance is this content. */
  traceContentReferences(contentId: string): TranscriptEntry[] {
    const content = nodeNamed(this.index, contentId);
    return this.index.messages.flatMap(({ entry }) =>
      entry.substance !== undefined && this.index.find(entry.substance) === content ? [entry] : [],
    );
  }

  /** As `traceContentReferences`, under its name in the older dialect: the deliveries and results that carry an utterance. */
  traceUtteranceDelivery(utteranceId: string): TranscriptEntry[] {
    return this.traceContentReferences(utteranceId);
  }

  #isReadable(node: LogNode): boolean {
    return this.index.messageOf(node) !== null || this.index.givenAt(node) !== null;
  }

  #parentOf(node: LogNode): LogNode | null {
    let parent = this.#nearest(node);
    // What a reader added to a log has no record there.
    while (parent?.event.data.record === null) parent = this.#nearest(parent);
    return parent;
  }

  #nearest(node: LogNode): LogNode | null {
    const links = causalGraph(this.index).causesOf(node);
    // The translator that a delivery passed through is nearer than the original utterance.
    const passed = links.find(({ kind, node: parent }) => kind === 'via' && !isDecision(parent));
    if (passed?.node != null) return passed.node;
    const first = links.find((link) => link.kind !== 'via' && !isOfPrompt(link) && link.node !== null);
    const last = links.findLast(({ kind }) => kind === 'heard') ?? links.findLast(isOfPrompt);
    return (first ?? last)?.node ?? null;
  }
}

function isDecision(node: LogNode | null): boolean {
  return node?.event.type === 'harness:hook_decision';
}

/** Whether a link leads to something that a model was given, or that a summary stands for. */
function isOfPrompt({ kind }: GraphLink): boolean {
  return kind === 'heard' || kind === 'observed' || kind === 'summary' || kind === 'replaces';
}

function messageIdOf({ event }: LogNode): string {
  return event.messageId ?? event.id;
}

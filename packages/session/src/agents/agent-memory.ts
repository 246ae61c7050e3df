import type { CapturedEvent } from '@hansard/events';
import {
  type ContextManifest,
  type ContextMessage,
  type ContextOptions,
  type ContextRenderer,
  createBranchRenderer,
  createContextRenderer,
  isStraightEvent,
  putTogether,
  type TranscriptEntry,
  type TranscriptMessage,
  type TranscriptPath,
} from '@hansard/prompt';

/** The current branch of an agent. */
export interface AgentBranch extends TranscriptPath<CapturedEvent> {
  /** The last event of the agent, if the branch does not have it. */
  readonly last: CapturedEvent | null;
  /** As `TranscriptTree.numberOf`. Absent: the agent has one branch. */
  readonly numberOf?: (id: string) => number | null;
}

/** The input of a model in one call. */
export interface ModelContext {
  /**
   * Frozen, because the cost of copies would grow with the log. The array belongs to the model. It is made when it is first
   * read, and later calls do not change it.
   */
  readonly messages: readonly ContextMessage[];
  readonly manifest: ContextManifest;
}

export interface AgentMemoryOptions {
  /** As `AgentFoldsOptions.read`. */
  readonly read: (agentId: string) => Promise<AgentBranch>;
  readonly context: ContextOptions;
  /** Runs a task after everything that was logged before is durable and known here. */
  readonly inOrder: <T>(task: () => Promise<T>) => Promise<T>;
}

/** The transcripts and contexts of agents that are in memory. Those that are not are rebuilt from the log when needed. */
export class AgentMemory {
  readonly #transcripts: AgentFolds<TranscriptEntry[]>;
  readonly #contexts: AgentFolds<ContextRenderer>;
  readonly #inOrder: AgentMemoryOptions['inOrder'];

  constructor({ read, context, inOrder }: AgentMemoryOptions) {
    this.#inOrder = inOrder;
    this.#transcripts = new AgentFolds<TranscriptEntry[]>({
      read,
      create: () => [],
      restore: ({ values }, agentId) => putTogether(values).map((entry) => ({ ...entry, agentId })),
      // The blocks of a message are in one append, so they are observed together.
      observe(entries, events, agentId) {
        for (const entry of putTogether(events)) entries.push({ ...entry, agentId });
      },
    });
    this.#contexts = new AgentFolds({
      read,
      create: () => createContextRenderer(context),
      restore(branch) {
        const renderer = createBranchRenderer(branch, context, branch.numberOf);
        if (branch.last !== null) renderer.skip(branch.last);
        return renderer;
      },
      observe(renderer, events) {
        for (const event of events) renderer.observe(event);
      },
    });
  }

  /** Adds events that are durable. Keeps them: they must not change. `isBranched`: as in `AgentRegistry`. */
  add(events: readonly CapturedEvent[], isBranched: boolean): void {
    this.#transcripts.add(events, isBranched);
    this.#contexts.add(events, isBranched);
  }

  /** An agent's transcript, with everything that was logged so far. */
  transcriptOf(agentId: string): Promise<readonly TranscriptMessage[]> {
    // Copies: a model or a reader must not change what is kept here.
    return this.#inOrder(async () =>
      (await this.#transcripts.of(agentId)).map(({ message }) => structuredClone(message)),
    );
  }

  /** As `transcriptOf`, with ids and links. */
  entriesOf(agentId: string): Promise<readonly TranscriptEntry[]> {
    return this.#inOrder(async () => structuredClone(await this.#transcripts.of(agentId)));
  }

  /** As `TurnResources.contextOf`. @throws CONTEXT_BUDGET_TOO_SMALL */
  contextOf(agentId: string): Promise<ModelContext> {
    return this.#inOrder(async () => (await this.#contexts.of(agentId)).render());
  }

  evict(agentId: string): Promise<void> {
    return this.#inOrder(async () => {
      this.#transcripts.evict(agentId);
      this.#contexts.evict(agentId);
    });
  }
}

interface AgentFoldsOptions<State> {
  /** Returns the current branch of an agent, made of the readable events that `add` had received when `read` was called. */
  readonly read: (agentId: string) => Promise<AgentBranch>;
  readonly create: () => State;
  readonly restore: (branch: AgentBranch, agentId: string) => State;
  /** Adds events of the agent to its state. */
  readonly observe: (state: State, events: readonly CapturedEvent[], agentId: string) => void;
}

interface Held<State> {
  readonly state: Promise<State>;
  /** Recorded events of the agent that the state does not have yet. They wait until the state is used. */
  fresh: CapturedEvent[];
}

/**
 * A fold over the current branch of each agent. The states of agents that are not in memory are rebuilt from the log when needed. The states of agents
 * whose branch changed are rebuilt, too.
 *
 * Invariant: a state and its fresh events have each event that was added, once. A rebuild therefore reads up to the last
 * event that was added when it began, although the log may be longer by then: the rest arrives through `add`.
 */
class AgentFolds<State> {
  readonly #held = new Map<string, Held<State>>();
  readonly #options: AgentFoldsOptions<State>;

  constructor(options: AgentFoldsOptions<State>) {
    this.#options = options;
  }

  /** The state with everything that was added before it resolves. */
  async of(agentId: string): Promise<State> {
    const held = this.#held.get(agentId) ?? this.#rebuild(agentId);
    const state = await held.state;
    const { fresh } = held;
    held.fresh = [];
    if (fresh.length > 0) this.#options.observe(state, fresh, agentId);
    return state;
  }

  /** Adds events that are durable, in the order of the log. Keeps them: they must not change. */
  add(events: readonly CapturedEvent[], isBranched: boolean): void {
    for (const event of events) {
      const { type, agentId } = event;
      if (agentId === undefined) continue;
      if (isBranched && !isStraightEvent(event)) {
        this.#held.delete(agentId);
        continue;
      }
      if (type === 'agent:created' && !this.#held.has(agentId)) this.#hold(agentId, this.#options.create());
      this.#held.get(agentId)?.fresh.push(event);
    }
  }

  evict(agentId: string): void {
    this.#held.delete(agentId);
  }

  #rebuild(agentId: string): Held<State> {
    const { read, restore } = this.#options;
    const held = this.#hold(
      agentId,
      read(agentId).then((branch) => restore(branch, agentId)),
    );
    held.state.catch(() => {
      if (this.#held.get(agentId) === held) this.#held.delete(agentId);
    });
    return held;
  }

  #hold(agentId: string, state: State | Promise<State>): Held<State> {
    const held = { state: Promise.resolve(state), fresh: [] };
    this.#held.set(agentId, held);
    return held;
  }
}

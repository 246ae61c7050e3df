import type { CapturedEvent } from '@hansard/events';
import {
  type ContextManifest,
  type ContextOptions,
  type ContextRenderer,
  createContextRenderer,
  putTogether,
  type TranscriptEntry,
  type TranscriptMessage,
} from '@hansard/prompt';
import type { ModelMessage } from '@hansard/provider';
import { AgentFolds } from './agent-folds.ts';

/** The input of a model in one call. */
export interface ModelContext {
  /**
   * Frozen, because the cost of copies would grow with the log. The array belongs to the model. It is made when it is first
   * read, and later calls do not change it.
   */
  readonly messages: readonly ModelMessage[];
  readonly manifest: ContextManifest;
}

export interface AgentMemoryOptions {
  /** As `AgentFoldsOptions.read`. */
  readonly read: (agentId: string) => Promise<readonly CapturedEvent[]>;
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
      // The blocks of a message are in one append, so they are observed together.
      observe(entries, events, agentId) {
        for (const entry of putTogether(events)) entries.push({ ...entry, agentId });
      },
    });
    this.#contexts = new AgentFolds({
      read,
      create: () => createContextRenderer(context),
      observe(renderer, events) {
        for (const event of events) renderer.observe(event);
      },
    });
  }

  /** Adds events that are durable. Keeps them: they must not change. */
  add(events: readonly CapturedEvent[]): void {
    this.#transcripts.add(events);
    this.#contexts.add(events);
  }

  /** An agent's transcript, with everything that was logged so far. */
  transcriptOf(agentId: string): Promise<readonly TranscriptMessage[]> {
    // Copies: a model or a reader must not change what is kept here.
    return this.#inOrder(async () =>
      (await this.#transcripts.of(agentId)).map(({ message }) => structuredClone(message)),
    );
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

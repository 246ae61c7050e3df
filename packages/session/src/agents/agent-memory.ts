import type { CapturedEvent } from '@hansard/events';
import type { ContextOptions, TranscriptMessage } from '@hansard/views';
import { Contexts, type ModelContext } from './contexts.ts';
import { Transcripts } from './transcripts.ts';

export interface AgentMemoryOptions {
  /** Returns the readable events of an agent, in the order of the log. */
  readonly read: (agentId: string) => Promise<readonly CapturedEvent[]>;
  readonly context: ContextOptions;
  /** Runs a task after everything that was logged before is durable and known here. */
  readonly inOrder: <T>(task: () => Promise<T>) => Promise<T>;
}

/** The transcripts and contexts of agents that are in memory. Those that are not are rebuilt from the log when needed. */
export class AgentMemory {
  readonly #transcripts: Transcripts;
  readonly #contexts: Contexts;
  readonly #inOrder: AgentMemoryOptions['inOrder'];

  constructor({ read, context, inOrder }: AgentMemoryOptions) {
    this.#transcripts = new Transcripts(read);
    this.#contexts = new Contexts(read, context);
    this.#inOrder = inOrder;
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

  /** As `TurnResources.contextOf`. */
  contextOf(agentId: string): Promise<ModelContext> {
    return this.#inOrder(() => this.#contexts.render(agentId));
  }

  evict(agentId: string): Promise<void> {
    return this.#inOrder(async () => {
      this.#transcripts.evict(agentId);
      this.#contexts.evict(agentId);
    });
  }
}

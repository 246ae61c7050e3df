import type { CapturedEvent } from '@hansard/events';
import type { ModelMessage } from '@hansard/provider';
import {
  type ContextManifest,
  type ContextOptions,
  type ContextRenderer,
  createContextRenderer,
} from '@hansard/views';

/** The input of a model in one call. */
export interface ModelContext {
  /**
   * Frozen, because the cost of copies would grow with the log. The array belongs to the model. It is made when it is first
   * read, and later calls do not change it.
   */
  readonly messages: readonly ModelMessage[];
  readonly manifest: ContextManifest;
}

/** The inputs of the models of agents, updated event by event. One that is not in memory is rebuilt from the log. */
export class Contexts {
  readonly #held = new Map<string, ContextRenderer>();
  /**
   * Recorded events that the renderers have not observed yet. They wait until a renderer is used: a renderer keeps its
   * events too, so waiting costs no memory.
   */
  #fresh: CapturedEvent[] = [];
  readonly #read: (agentId: string) => Promise<readonly CapturedEvent[]>;
  readonly #options: ContextOptions;

  /** `read` returns the readable events of an agent, in the order of the log. */
  constructor(read: (agentId: string) => Promise<readonly CapturedEvent[]>, options: ContextOptions) {
    this.#read = read;
    this.#options = options;
  }

  /**
   * Must be called in the order of the writes of the log.
   * @throws CONTEXT_BUDGET_TOO_SMALL
   */
  async render(agentId: string): Promise<ModelContext> {
    return (await this.#of(agentId)).render();
  }

  /** Adds events that are durable. Keeps them: they must not change. */
  add(events: readonly CapturedEvent[]): void {
    for (const event of events) {
      const { type, agentId } = event;
      if (agentId === undefined) continue;
      if (type === 'agent:created' && !this.#held.has(agentId))
        this.#held.set(agentId, createContextRenderer(this.#options));
      if (this.#held.has(agentId)) this.#fresh.push(event);
    }
  }

  evict(agentId: string): void {
    this.#observeFresh();
    this.#held.delete(agentId);
  }

  #observeFresh(): void {
    for (const event of this.#fresh) this.#held.get(event.agentId ?? '')?.observe(event);
    this.#fresh = [];
  }

  async #of(agentId: string): Promise<ContextRenderer> {
    this.#observeFresh();
    const held = this.#held.get(agentId);
    if (held !== undefined) return held;
    const renderer = createContextRenderer(this.#options);
    for (const event of await this.#read(agentId)) renderer.observe(event);
    this.#held.set(agentId, renderer);
    return renderer;
  }
}

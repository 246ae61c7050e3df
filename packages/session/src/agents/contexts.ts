import type { CapturedEvent } from '@hansard/events';
import type { ModelMessage } from '@hansard/provider';
import {
  type ContextManifest,
  type ContextOptions,
  type ContextRenderer,
  createContextRenderer,
} from '@hansard/views';

/** What a model is given in one call. */
export interface ModelContext {
  /**
   * Frozen, as copies would cost each call as much as the log is long. The array is the model's own, made when it is first
   * asked for, and holds what the model is given in this call, also after later ones.
   */
  readonly messages: readonly ModelMessage[];
  readonly manifest: ContextManifest;
}

/** What the models of agents are given, kept up to date event by event. One that is not in memory is made from the log. */
export class Contexts {
  readonly #held = new Map<string, ContextRenderer>();
  /**
   * Recorded events that the renderers have not observed yet. They wait until a renderer is used: a renderer keeps its
   * events too, so waiting costs no memory.
   */
  #fresh: CapturedEvent[] = [];
  readonly #read: (agentId: string) => Promise<readonly CapturedEvent[]>;
  readonly #options: ContextOptions;

  /** `read` gives the readable events of an agent, in the order of the log. */
  constructor(read: (agentId: string) => Promise<readonly CapturedEvent[]>, options: ContextOptions) {
    this.#read = read;
    this.#options = options;
  }

  /**
   * To be called in the order of the log's writes.
   * @throws CONTEXT_BUDGET_TOO_SMALL
   */
  async render(agentId: string): Promise<ModelContext> {
    return (await this.#of(agentId)).render();
  }

  /** Takes events that were just recorded. Keeps them: they must not change. */
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

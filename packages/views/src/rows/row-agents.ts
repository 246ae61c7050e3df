import type { CapturedEvent } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { AgentNames } from '../agents/agent-names.ts';
import { DeliveryRecord, type LinkReading } from '../audience/delivery-record.ts';
import { PresentAgents } from '../audience/present-agents.ts';
import { senderOf, speakerIdOf } from '../log/saying.ts';
import type { RowAgent } from './row.ts';
import type { RowGroup } from './row-group.ts';

/** The agents of a dispatch as far as its events name them, for a reader that takes them one by one. */
export class RowAgents {
  readonly #names = new AgentNames();
  readonly #depths = new Map<string, number>();
  /** By agent: the one whose call created it. */
  readonly #creators = new Map<string, string>();
  readonly #present = new PresentAgents();
  readonly #deliveries = new DeliveryRecord();

  /** Reads what an event says about its agent. `creatorOf`: the agent of the event or message with an id; null: not known. */
  learn(event: CapturedEvent, creatorOf: (id: string) => string | null): void {
    const { type, agentId = '', cause } = event;
    this.#names.learn(event);
    if (!this.#depths.has(agentId)) {
      const [first] = [cause ?? []].flat();
      const isCreated = type === 'agent:created';
      const creator = isCreated && first !== undefined ? (creatorOf(first) ?? '') : '';
      this.#creators.set(agentId, creator);
      // The root agent of a session has an id, and nothing created it.
      const isRoot = agentId === '' || (isCreated && first === undefined);
      this.#depths.set(agentId, isRoot ? 0 : (this.#depths.get(creator) ?? 0) + 1);
    }
    this.#present.observe(event);
  }

  /** Reads what an event says about deliveries. Returns the first position about which `notKnownOf` can have another answer now. */
  observe(event: CapturedEvent, position: number, links: LinkReading): number {
    return this.#deliveries.observe(event, position, links);
  }

  /** After the last event. */
  end(): void {
    this.#deliveries.end();
  }

  /** Those of a row's company of which the log does not record whether they received what it says. */
  notKnownOf({ company, position }: RowGroup): readonly string[] {
    return company.filter((agentId) => !this.#deliveries.shows(agentId, position));
  }

  of(agentId = ''): RowAgent {
    return { agentId, name: this.#names.of(agentId), depth: this.#depths.get(agentId) ?? 0 };
  }

  nameOf(agentId: string): string {
    return this.#names.of(agentId);
  }

  /** A message with the id of its sender, as far as the agents say it. Any other event as it is. */
  withSender(event: CapturedEvent): CapturedEvent {
    if (!isReadableAs(event, 'user:message')) return event;
    const { data, agentId = '' } = event;
    const { source } = data;
    const sender = senderOf(
      source,
      () => this.#creators.get(agentId),
      (name) => this.#names.bearerOf(name),
    );
    return sender === null ? event : { ...event, data: { ...data, source: { ...source, agentId: sender } } };
  }

  /** The agent that wrote a message. Null: see `speakerIdOf`. */
  speakerOf(event: CapturedEvent): string | null {
    const sent = this.withSender(event);
    return isReadableAs(sent, 'user:message') ? speakerIdOf(sent.data.source) : null;
  }

  /** The agents that can take part now, except one. */
  presentBeside(agentId: string | null): readonly string[] {
    return this.#present.beside(agentId);
  }
}

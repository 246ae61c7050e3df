import { type DispatchEnvelope, definedOnly } from '@hansard/events';
import { findNamed } from '@hansard/facts';
import { addressedEvents, type FoundEvent, type LogAgent, type LogIndex } from '@hansard/views';
import { findEvent } from '../tasks/find-event.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CliContext } from '../terminal/context.ts';

/** The log of one dispatch in memory, whose events and agents can be named as on the command line. */
export class SessionLog {
  readonly envelope: DispatchEnvelope;
  readonly index: LogIndex;

  readonly #zone: CliContext['zone'];

  constructor(envelope: DispatchEnvelope, index: LogIndex, zone?: CliContext['zone']) {
    this.envelope = envelope;
    this.index = index;
    this.#zone = zone;
  }

  /** The event or message that an address names. @throws CliError */
  findEvent(address: string): Promise<FoundEvent> {
    const { envelope, index } = this;
    return findEvent(
      { envelope, log: addressedEvents(index.events), ...definedOnly({ zone: this.#zone }) },
      address,
    );
  }

  /** The id of the event or message that an address names. A model call is its answer. @throws CliError */
  async findEventId(address: string): Promise<string> {
    const { event, id } = await this.findEvent(address);
    const { type, messageId } = event;
    return type === 'agent:inference' && messageId !== undefined && this.index.find(messageId) !== null
      ? messageId
      : id;
  }

  /** The agent that a text names: see `agentHelp`. @throws CliError that lists the agents if none, or more than one, matches */
  findAgent(wanted: string): LogAgent {
    const agents = [...this.index.agents.values()];
    const answer = findNamed(agents, wanted, ({ agentId, name, label }) => ({
      id: agentId,
      names: agentId === '' ? [name, label, this.envelope.role] : [name, label],
    }));
    if (answer.kind === 'found') return answer.item;
    if (answer.kind === 'unknown')
      throw new CliError(
        exitCode.failed,
        `There is no agent ${JSON.stringify(wanted)}.`,
        `The agents are: ${labels(agents)}.`,
      );
    throw new CliError(
      exitCode.failed,
      `${answer.items.length} agents are named ${JSON.stringify(wanted)}: ${labels(answer.items)}.`,
      'Name the agent by its id.',
    );
  }
}

function labels(agents: readonly LogAgent[]): string {
  return agents
    .map(({ agentId, name, label }) => (name === null ? label : `${name} (${agentId})`))
    .join(', ');
}

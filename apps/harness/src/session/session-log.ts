import { openSession } from '@hansard/compose';
import type { DispatchStore } from '@hansard/dispatch';
import { type DispatchEnvelope, definedOnly } from '@hansard/events';
import { findNamed } from '@hansard/facts';
import {
  addressedEvents,
  createLogIndex,
  type FoundEvent,
  type LogAgent,
  type LogIndex,
} from '@hansard/views';
import { findEvent } from '../tasks/find-event.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { createProgress } from '../terminal/progress.ts';

/** Reads the log of the session that a word names, and its index. Diagnostics are printed on standard error. */
export async function readSession(
  context: CliContext,
  store: DispatchStore,
  word: string,
): Promise<SessionLog> {
  const { taskDir, log } = await openSession(store, word);
  const { envelope } = log;
  const progress = createProgress(context, 'reading events');
  const events = await store.getDispatchEvents(taskDir, envelope.dispatchId);
  progress.update(events.length);
  progress.end();
  const index = createLogIndex(events);
  for (const { message } of index.diagnostics) note(context, `hansard: ${message}`);
  if (envelope.fidelity === 'narrative')
    note(context, 'hansard: recorded as a narrative: tool input and output are not in the log.');
  return new SessionLog(taskDir, envelope, index, context.zone);
}

/** The log of one dispatch in memory, whose events and agents can be named as on the command line. */
export class SessionLog {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  readonly index: LogIndex;

  readonly #zone: CliContext['zone'];

  constructor(taskDir: string, envelope: DispatchEnvelope, index: LogIndex, zone?: CliContext['zone']) {
    this.taskDir = taskDir;
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

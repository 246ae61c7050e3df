import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { findNamed } from '@hansard/facts';
import {
  addressedEvents,
  createLogIndex,
  type FoundEvent,
  type LogAgent,
  type LogIndex,
} from '@hansard/views';
import { openNamed } from '../sessions/resolve-session.ts';
import { eventNamed } from './event-named.ts';
import type { PagedLog } from './paged-log.ts';
import { theAgent } from './the-agent.ts';
import type { ReadingClock } from './time-limits.ts';

/** How a whole session is read. */
export interface SessionReading extends ReadingClock {
  /** Receives what a person should know of the log, such as an agent that was never created. */
  readonly onNote?: (line: string) => void;
}

/** Reads the log of the session that a word names into memory, with its index. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS */
export async function readSession(
  store: DispatchStore,
  word: string,
  { onNote, ...clock }: SessionReading = {},
): Promise<OpenedSession> {
  const { taskDir, log } = await openNamed(store, word);
  const index = createLogIndex(await store.getDispatchEvents(taskDir, log.dispatchId));
  for (const { message } of index.diagnostics) onNote?.(message);
  if (log.envelope.fidelity === 'narrative')
    onNote?.('recorded as a narrative: tool input and output are not in the log.');
  return new OpenedSession(taskDir, log.envelope, index, clock);
}

/** The log of one session in memory, whose events and agents have the names that people use. It is made by `readSession`. */
export class OpenedSession {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  readonly index: LogIndex;
  readonly #clock: ReadingClock;

  constructor(taskDir: string, envelope: DispatchEnvelope, index: LogIndex, clock: ReadingClock) {
    this.taskDir = taskDir;
    this.envelope = envelope;
    this.index = index;
    this.#clock = clock;
  }

  /** Its events as pages. */
  get paged(): PagedLog {
    return { envelope: this.envelope, ...addressedEvents(this.index.events) };
  }

  /** The event or message that a word names. @throws as `eventNamed` */
  findEvent(word: string): Promise<FoundEvent> {
    return eventNamed(this.paged, word, this.#clock);
  }

  /** The id of the event or message that a word names. A model call is its answer. @throws as `eventNamed` */
  async findEventId(word: string): Promise<string> {
    const { event, id } = await this.findEvent(word);
    const { type, messageId } = event;
    return type === 'agent:inference' && messageId !== undefined && this.index.find(messageId) !== null
      ? messageId
      : id;
  }

  /** The agent that a word names: its name, or its id, the end or the beginning of it. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS */
  findAgent(word: string): LogAgent {
    const agents = [...this.index.agents.values()];
    const answer = findNamed(agents, word, ({ agentId, name, label }) => ({
      id: agentId,
      names: agentId === '' ? [name, label, this.envelope.role] : [name, label],
    }));
    return theAgent(answer, word, agents.map(labelOf), labelOf);
  }
}

function labelOf({ agentId, name, label }: LogAgent): string {
  return name === null ? label : `${name} (${agentId})`;
}

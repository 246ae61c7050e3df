import type { DispatchEntry, DispatchStore } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { findNamed, shortId } from '@hansard/facts';
import { storeErrors } from '@hansard/provider';
import {
  type AgentRef,
  addressedEvents,
  type CausalRow,
  causesOf,
  createLogIndex,
  type FoundEvent,
  JointLog,
  type LogAgent,
  type LogIndex,
  type PartRules,
  splitMessages,
} from '@hansard/views';
import { readGameMapping } from '../exports/named-files.ts';
import { type HarnessError, harnessErrors } from '../harness-errors.ts';
import { noSession, openNamed, resolveScope, resolveSession } from '../sessions/resolve-session.ts';
import { toTaskName } from '../sessions/task-name.ts';
import { eventNamed, type ReadingClock, theAgent } from './names.ts';
import type { PagedLog } from './paged-log.ts';

/** How a whole session is read. */
export interface SessionReading extends ReadingClock {
  /** Receives what a person should know of the log, such as an agent that was never created. */
  readonly onNote?: (line: string) => void;
  /** The path of the mapping of a game (YAML or JSON). By its `parts`, each part of a text is an event of its own. */
  readonly mapping?: string | undefined;
}

/** Reads the log of the session that a word names into memory, with its index. @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS, HARNESS_FILE_UNUSABLE */
export async function readSession(
  store: DispatchStore,
  word: string,
  { onNote, ...clock }: SessionReading = {},
): Promise<OpenedSession> {
  const { taskDir, log } = await openNamed(store, word);
  const session = await openedSession(store, taskDir, log.envelope, clock, partsIn(clock, onNote));
  for (const line of session.notes) onNote?.(line);
  return session;
}

/**
 * Reads the logs that a word names into memory: of a task, all its sessions. A session that cannot be read does not hide the others.
 * @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS, HARNESS_FILE_UNUSABLE; the error of a session if none can be read
 */
export async function readSessions(
  store: DispatchStore,
  word: string,
  {
    onNote,
    takes = () => true,
    ...clock
  }: SessionReading & {
    /** Which sessions are read. Absent: all. */
    readonly takes?: (envelope: DispatchEnvelope) => boolean;
  } = {},
): Promise<{
  readonly sessions: OpenedSessions;
  /** What was looked at, oldest first: a session that could not be read has its error. */
  readonly entries: readonly DispatchEntry[];
}> {
  const { taskDir, dispatchId, listings } = await resolveScope(store, word);
  const named = dispatchId === null ? listings : listings.filter((one) => one.dispatchId === dispatchId);
  const sessions: OpenedSession[] = [];
  const entries: DispatchEntry[] = [];
  const parts = partsIn(clock, onNote);
  for (const listed of named) {
    if ('error' in listed) entries.push(listed);
    else if (takes(listed.envelope)) {
      try {
        sessions.push(await openedSession(store, taskDir, listed.envelope, clock, parts));
        entries.push(listed);
      } catch (error) {
        if (!storeErrors.is(error)) throw error;
        entries.push({ taskDir, dispatchId: listed.dispatchId, error });
      }
    }
  }
  const [failed] = entries.flatMap((one) => ('error' in one ? one.error : []));
  if (sessions.length === 0)
    throw failed ?? (named.length === 0 ? noSession(taskDir) : noneTaken(named, taskDir));
  for (const { envelope, notes } of sessions)
    for (const line of notes)
      onNote?.(sessions.length === 1 ? line : `${envelope.role} ${shortId(envelope.dispatchId)}: ${line}`);
  return { sessions: new OpenedSessions(sessions), entries };
}

function noneTaken(named: readonly DispatchEntry[], taskDir: string): HarnessError {
  const roles = named.flatMap((one) => ('error' in one ? [] : one.envelope.role));
  return harnessErrors.error(
    'HARNESS_NOT_FOUND',
    `No session of ${toTaskName(taskDir)} has the role and the bot that were asked for.`,
    { advice: `Its roles: ${[...new Set(roles)].join(', ')}.` },
  );
}

/** Null: texts are whole. */
function partsIn({ mapping }: SessionReading, onNote: SessionReading['onNote']): PartRules | null {
  if (mapping === undefined) return null;
  const { parts = null } = readGameMapping('', mapping);
  if (parts === null) onNote?.(`${mapping} has no \`parts\`: texts are shown whole.`);
  return parts;
}

/** Reads the log of a session into memory. */
async function openedSession(
  store: DispatchStore,
  taskDir: string,
  envelope: DispatchEnvelope,
  clock: ReadingClock = {},
  parts: PartRules | null = null,
): Promise<OpenedSession> {
  const events = await store.getDispatchEvents(taskDir, envelope.dispatchId);
  const index = createLogIndex(parts === null ? events : splitMessages(events, parts));
  return new OpenedSession(taskDir, envelope, index, { ...clock, recorded: events });
}

/** The log of one session in memory, whose events and agents have the names that people use. It is made by `readSession`. */
export class OpenedSession {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  readonly index: LogIndex;
  readonly #clock: ReadingClock;
  /** The events as they are in the log, which addresses name. */
  readonly #recorded: readonly CapturedEvent[];

  constructor(
    taskDir: string,
    envelope: DispatchEnvelope,
    index: LogIndex,
    { recorded, ...clock }: ReadingClock & { readonly recorded: readonly CapturedEvent[] },
  ) {
    this.#recorded = recorded;
    this.taskDir = taskDir;
    this.envelope = envelope;
    this.index = index;
    this.#clock = clock;
  }

  /** What a person should know of the log. */
  get notes(): readonly string[] {
    const isNarrative = this.envelope.fidelity === 'narrative';
    return [
      ...this.index.diagnostics.map(({ message }) => message),
      ...(isNarrative ? ['recorded as a narrative: tool input and output are not in the log.'] : []),
    ];
  }

  /** Its events as pages. */
  get paged(): PagedLog {
    return { envelope: this.envelope, ...addressedEvents(this.#recorded) };
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
    const answer = findNamed(agents, word, (agent) => namesOf(agent, this.envelope));
    return theAgent(answer, word, agents.map(labelOf), labelOf);
  }
}

/** An agent of one of several sessions. */
interface FoundAgent extends AgentRef {
  readonly session: OpenedSession;
  readonly agent: LogAgent;
}

/** The logs of several sessions of a task. It is made by `readSessions`. */
export class OpenedSessions {
  /** At least one, oldest first. */
  readonly all: readonly OpenedSession[];
  readonly joint: JointLog;

  constructor(all: readonly OpenedSession[]) {
    this.all = all;
    this.joint = new JointLog(all);
  }

  /**
   * The agents that a word names, one of each session that has one: its name, or its id, the end or the beginning of it.
   * @throws HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS if it fits several agents of one session
   */
  findAgents(word: string): readonly AgentRef[] {
    const agents = this.all.flatMap((session): FoundAgent[] => {
      const { dispatchId } = session.envelope;
      return [...session.index.agents.values()].map((agent) => {
        return { dispatchId, agentId: agent.agentId, agent, session };
      });
    });
    const label = ({ agent, session: { envelope } }: FoundAgent) =>
      this.all.length === 1
        ? labelOf(agent)
        : `${labelOf(agent)} in ${envelope.role} ${shortId(envelope.dispatchId)}`;
    const answer = findNamed(agents, word, ({ agent, session }) => namesOf(agent, session.envelope));
    if (answer.kind === 'ambiguous') {
      const { items } = answer;
      if (new Set(items.map(({ dispatchId }) => dispatchId)).size === items.length) return items.map(refOf);
    }
    return [refOf(theAgent(answer, word, agents.map(label), label))];
  }
}

function refOf({ dispatchId, agentId }: AgentRef): AgentRef {
  return { dispatchId, agentId };
}

function namesOf({ agentId, name, label }: LogAgent, { role }: DispatchEnvelope) {
  return { id: agentId, names: agentId === '' ? [name, label, role] : [name, label] };
}

function labelOf({ agentId, name, label }: LogAgent): string {
  return name === null ? label : `${name} (${agentId})`;
}

/** The causes in one session. */
export interface CausesInSession {
  readonly session: OpenedSession;
  /** In the order of its log. `distance` counts the links from the event that was asked for, also those between sessions. */
  readonly rows: readonly CausalRow[];
}

interface Place {
  readonly dispatchId: string;
  readonly id: string;
  readonly distance: number;
}

/**
 * The causes of an event or message, also in the sessions that sent messages to its session, and so on. Another session is read when a link
 * leads there that is at most `depth` links away; rows that are further away are left out there.
 *
 * @throws TypeError for an id that is not in the log; errors of the store
 */
export async function causesAcross(
  store: DispatchStore,
  asked: OpenedSession,
  id: string,
  depth: number,
): Promise<{
  /** The session that was asked first, then those from which messages came. */
  readonly sessions: readonly CausesInSession[];
  /** The events of other sessions at which the search ends, because the store does not have them. */
  readonly lost: readonly {
    readonly dispatchId: string;
    readonly id: string;
    readonly hasSession: boolean;
  }[];
}> {
  const first = causesOf(asked.index, id);
  const found = new Map([[asked, new Map(first.map((row) => [row.position, row]))]]);
  const opened = new Map<string, OpenedSession | null>([[asked.envelope.dispatchId, asked]]);
  const lost: { dispatchId: string; id: string; hasSession: boolean }[] = [];
  const nearest = new Map<string, number>();
  const places = linksFrom(first, depth);
  // The iteration includes what is added during it.
  for (const place of places) {
    const key = `${place.dispatchId} ${place.id}`;
    if ((nearest.get(key) ?? Number.POSITIVE_INFINITY) <= place.distance) continue;
    const isKnown = nearest.has(key);
    nearest.set(key, place.distance);
    let session = opened.get(place.dispatchId);
    if (session === undefined) {
      session = await readSender(store, asked, place.dispatchId);
      opened.set(place.dispatchId, session);
    }
    if (session === null || session.index.find(place.id) === null) {
      if (!isKnown) lost.push({ dispatchId: place.dispatchId, id: place.id, hasSession: session !== null });
      continue;
    }
    const rows = causesOf(session.index, place.id)
      .map((row) => ({ ...row, distance: row.distance + place.distance }))
      .filter((row) => row.distance <= depth);
    const known = found.get(session) ?? new Map<number, CausalRow>();
    found.set(session, known);
    for (const row of rows)
      if ((known.get(row.position)?.distance ?? Number.POSITIVE_INFINITY) > row.distance)
        known.set(row.position, row);
    places.push(...linksFrom(rows, depth));
  }
  const sessions = [...found].map(([session, rows]) => ({
    session,
    rows: [...rows.values()].sort((one, other) => one.position - other.position),
  }));
  return { sessions, lost };
}

/** Where the causes of rows are in other sessions. */
function linksFrom(rows: readonly CausalRow[], depth: number): Place[] {
  return rows.flatMap(({ because, distance }) =>
    distance >= depth
      ? []
      : because.flatMap(({ id, dispatchId }) =>
          dispatchId === undefined ? [] : [{ dispatchId, id, distance: distance + 1 }],
        ),
  );
}

/** The session that sent a message: in the same task, otherwise the only session with that id. Null: the store has no readable session with it. */
async function readSender(
  store: DispatchStore,
  asked: OpenedSession,
  dispatchId: string,
): Promise<OpenedSession | null> {
  try {
    const own = { taskDir: asked.taskDir, dispatchId };
    const place = (await store.findDispatch(own)) === null ? await resolveSession(store, dispatchId) : own;
    // A word can also be the end of an id.
    if (place.dispatchId !== dispatchId) return null;
    const { envelope } = await store.openDispatch(place);
    return await openedSession(store, place.taskDir, envelope);
  } catch (error) {
    if (harnessErrors.is(error) || storeErrors.is(error)) return null;
    throw error;
  }
}

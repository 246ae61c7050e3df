import type { DispatchEnvelope } from '@hansard/events';
import { AgentRoster, timeNotRecorded } from '@hansard/facts';
import { EventFilter, parseTextPattern, type TextPattern } from '@hansard/views';
import { type HarnessError, harnessErrors } from '../harness-errors.ts';
import { type ReadingClock, type RequestedTimes, theAgent, timeLimitsOf } from './names.ts';
import type { PagedLog } from './paged-log.ts';

const sourceKinds = ['user', 'agent', 'system', 'external'] as const;

/** Which events are wanted, in the words of a person. What is absent selects all. */
export interface RequestedEvents extends RequestedTimes {
  /** Of these agents. */
  readonly agent?: readonly string[];
  /** Of sessions of this bot. */
  readonly bot?: string;
  /** Of sessions whose agent has this role. */
  readonly role?: string;
  /** Types with commas, such as `agent:*`. */
  readonly type?: string;
  /** Tools with commas. */
  readonly tool?: string;
  /** Sources of messages with commas: user, agent, system, external. */
  readonly source?: string;
  readonly failed?: boolean;
  /** A text, ignoring case, or a regular expression between slashes. */
  readonly text?: string;
}

/** A request for some of the events of one or more sessions. */
export class EventRequest {
  readonly #clock: ReadingClock;
  readonly #wanted: RequestedEvents;
  readonly #text: TextPattern | null;
  readonly #filters: EventFilter[] = [];

  private constructor(clock: ReadingClock, wanted: RequestedEvents, text: TextPattern | null) {
    this.#clock = clock;
    this.#wanted = wanted;
    this.#text = text;
  }

  /** @throws HARNESS_OPTION_INVALID for a regular expression that is not valid */
  static async parse(clock: ReadingClock, wanted: RequestedEvents): Promise<EventRequest> {
    if (wanted.text === undefined) return new EventRequest(clock, wanted, null);
    const parsed = await parseTextPattern(wanted.text);
    if ('pattern' in parsed) return new EventRequest(clock, wanted, parsed.pattern);
    throw invalid(
      `--text ${JSON.stringify(wanted.text)} can't be searched: ${parsed.problem}.`,
      'Give a plain text, or a regular expression of RE2 between slashes, such as /exit (code|status) [1-9]/i.',
    );
  }

  /** Whether every event is requested. */
  get isOpen(): boolean {
    return this.inWords === '';
  }

  /** Whether nothing but types is requested. */
  get isOfTypes(): boolean {
    const { type, ...others } = this.#wanted;
    return type !== undefined && wordsOf(others) === '';
  }

  /** As it was written. */
  get inWords(): string {
    return wordsOf(this.#wanted);
  }

  /** What a person should know after the filters have been used: how many `items` they left out because their time is not recorded. */
  notes(items: 'rows' | 'events'): string[] {
    const count = this.#filters.reduce((sum, { untimed }) => sum + untimed, 0);
    if (count === 0) return [];
    return [
      `hansard: Without --since and --until, ${count} more ${count === 1 ? items.slice(0, -1) : items} would pass: ${timeNotRecorded}.`,
    ];
  }

  /** Whether a session can have requested events, by its bot and its role. */
  takes({ botId, role }: Pick<DispatchEnvelope, 'botId' | 'role'>): boolean {
    const { bot = botId, role: wanted = role } = this.#wanted;
    return bot === botId && wanted === role;
  }

  /** The filter of one of several sessions: an agent that it does not have has no events in it. @throws HARNESS_AMBIGUOUS, HARNESS_OPTION_INVALID */
  forOneOf(log: PagedLog): Promise<EventFilter> {
    return this.#filterOf(log, false);
  }

  /** The filter of the only session. @throws HARNESS_NOT_FOUND for an agent that it does not have, and as `forOneOf` */
  forOnly(log: PagedLog): Promise<EventFilter> {
    return this.#filterOf(log, true);
  }

  /** The filter of a session for one of its agents, by its id, in the place of those that were requested. */
  forAgent(envelope: DispatchEnvelope, agentId: string): EventFilter {
    return this.#filter(envelope, [agentId]);
  }

  async #filterOf(log: PagedLog, mustHave: boolean): Promise<EventFilter> {
    const { agent } = this.#wanted;
    if (!this.takes(log.envelope)) return this.#filter(log.envelope, []);
    if (agent === undefined) return this.#filter(log.envelope, null);
    const roster = new AgentRoster(log.envelope.role);
    for await (const { events } of log.pages()) for (const event of events) roster.learn(event);
    const wanted = agent.filter((name) => mustHave || roster.find(name).kind !== 'unknown');
    const label = roster.label.bind(roster);
    return this.#filter(
      log.envelope,
      wanted.map((name) => theAgent(roster.find(name), name, roster.agents.map(label), label).agentId),
    );
  }

  #filter({ startedAt }: DispatchEnvelope, agentIds: readonly string[] | null): EventFilter {
    const { type, tool, source, failed } = this.#wanted;
    const filter = new EventFilter({
      ...(agentIds !== null && { agentIds }),
      ...(type !== undefined && { types: listed(type) }),
      ...(tool !== undefined && { tools: listed(tool) }),
      ...(source !== undefined && { sources: sourcesNamed(source) }),
      ...(failed && { failed }),
      ...(this.#text !== null && { text: this.#text }),
      ...timeLimitsOf(this.#clock, this.#wanted, startedAt),
    });
    this.#filters.push(filter);
    return filter;
  }
}

function wordsOf({
  agent = [],
  bot,
  role,
  type,
  tool,
  source,
  failed,
  text,
  since,
  until,
}: RequestedEvents): string {
  const given = Object.entries({ bot, role, type, tool, source, text, since, until });
  return [
    ...agent.map((name) => `--agent ${name}`),
    ...given.flatMap(([name, value]) => (value === undefined ? [] : `--${name} ${value}`)),
    ...(failed ? ['--failed'] : []),
  ].join(' ');
}

function sourcesNamed(words: string): (typeof sourceKinds)[number][] {
  return listed(words).map((word) => {
    const kind = sourceKinds.find((known) => known === word);
    if (kind !== undefined) return kind;
    throw invalid(
      `--source ${JSON.stringify(word)} is not a source of messages.`,
      `The sources are: ${sourceKinds.join(', ')}.`,
    );
  });
}

function invalid(message: string, advice: string): HarnessError {
  return harnessErrors.error('HARNESS_OPTION_INVALID', message, { advice });
}

function listed(words: string): string[] {
  return words.split(',').map((word) => word.trim());
}

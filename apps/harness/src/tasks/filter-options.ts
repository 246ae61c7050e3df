import type { DispatchLog } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { AgentRoster } from '@hansard/facts';
import { EventFilter, parseTextPattern, type TextPattern } from '@hansard/views';
import { type Command, Option } from 'commander';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { agentHelp } from '../terminal/command.ts';
import { type CliContext, letInterrupt } from '../terminal/context.ts';
import { type LimitOptions, timeLimitsOf, withTimeLimits } from './time-limits.ts';

const sourceKinds = ['user', 'agent', 'system', 'external'] as const;

/** The options that select events, in every command that lists them. */
export interface FilterOptions extends LimitOptions {
  readonly agent?: readonly string[];
  readonly bot?: string;
  readonly role?: string;
  readonly type?: string;
  readonly tool?: string;
  readonly source?: string;
  readonly failed?: boolean;
  readonly text?: string;
}

/** Adds the options that select events to a command that lists events. `agentWhat`: what `--agent` selects there. */
export function withFilterOptions(command: Command, agentWhat = 'print only events of this agent'): Command {
  const selecting = command
    .addOption(agentOption(agentWhat))
    .option(
      '--type <types>',
      "print only these types, such as 'agent:*' or 'agent:text,user:message'; 'hook' is what hooks did",
    )
    .option('--tool <tools>', "print only events of these tools, such as Bash or 'mcp__*,Read'")
    .option('--source <kinds>', `print only messages from these: ${sourceKinds.join(', ')}`)
    .option('--failed', 'print only failures: of calls, of the engine, and denials by hooks')
    .option(
      '--text <text>',
      'print only events that contain this text, ignoring case; /…/ is a regular expression',
    );
  return withTimeLimits(selecting, 'print only events');
}

/** Adds the options that select sessions, to a command that lists the events of several. */
export function withSessionFilter(command: Command): Command {
  return command
    .option('--bot <id>', 'print only sessions of this bot, and end with its sums')
    .option('--role <role>', 'print only sessions whose agent has this role');
}

/** An option that names an agent, and can be given several times. */
export function agentOption(what: string): Option {
  return new Option('--agent <name>', `${what} (repeatable): ${agentHelp}`).argParser(
    (name: string, before: readonly string[] = []) => [...before, name],
  );
}

/** A dispatch whose events are filtered. */
export interface FilteredDispatch {
  readonly envelope: DispatchEnvelope;
  /** All its events in pages. Read only to find a named agent. */
  pages(): AsyncIterable<Iterable<CapturedEvent>>;
}

/** A request for some of the events of one or more dispatches, as it was given on the command line. */
export class FilterRequest {
  readonly #context: CliContext;
  readonly #options: FilterOptions;
  readonly #text: TextPattern | null;

  private constructor(context: CliContext, options: FilterOptions, text: TextPattern | null) {
    this.#context = context;
    this.#options = options;
    this.#text = text;
  }

  /** @throws CliError for a regular expression that is not valid */
  static async parse(context: CliContext, options: FilterOptions): Promise<FilterRequest> {
    if (options.text === undefined) return new FilterRequest(context, options, null);
    const parsed = await parseTextPattern(options.text);
    if ('pattern' in parsed) return new FilterRequest(context, options, parsed.pattern);
    throw new CliError(
      exitCode.usage,
      `--text ${JSON.stringify(options.text)} can't be searched: ${parsed.problem}.`,
      'Give a plain text, or a regular expression of RE2 between slashes, such as /exit (code|status) [1-9]/i.',
    );
  }

  /** Whether every event is requested. */
  get isOpen(): boolean {
    return this.inWords === '';
  }

  /** Whether nothing but types is requested. */
  get isOfTypes(): boolean {
    return this.inWords !== '' && this.#words(({ type: _, ...others }) => others) === '';
  }

  /** As it was written. */
  get inWords(): string {
    return this.#words((options) => options);
  }

  #words(select: (options: FilterOptions) => FilterOptions): string {
    const { agent = [], bot, role, type, tool, source, failed, text, since, until } = select(this.#options);
    const given = Object.entries({ bot, role, type, tool, source, text, since, until });
    const words = [
      ...agent.map((name) => `--agent ${name}`),
      ...given.flatMap(([name, value]) => (value === undefined ? [] : `--${name} ${value}`)),
    ];
    return [...words, ...(failed ? ['--failed'] : [])].join(' ');
  }

  /** Whether a dispatch can have requested events, by its bot and its role. */
  takes({ botId, role }: Pick<DispatchEnvelope, 'botId' | 'role'>): boolean {
    const { bot = botId, role: wanted = role } = this.#options;
    return bot === botId && wanted === role;
  }

  /** The filter of one of several dispatches. An agent that it does not have has no events in it. @throws CliError */
  async forOneOf(dispatch: FilteredDispatch): Promise<EventFilter> {
    const { agent } = this.#options;
    if (!this.takes(dispatch.envelope)) return this.#filter(dispatch.envelope, []);
    if (agent === undefined) return this.#filter(dispatch.envelope, null);
    const roster = await rosterOf(dispatch);
    const known = agent.filter((name) => roster.find(name).kind !== 'unknown');
    return this.#filter(
      dispatch.envelope,
      known.map((name) => agentIn(roster, name)),
    );
  }

  /** The filter of the only dispatch. @throws CliError, including for an agent that it does not have */
  async forOnly(dispatch: FilteredDispatch): Promise<EventFilter> {
    const { agent } = this.#options;
    if (agent === undefined || !this.takes(dispatch.envelope)) return this.forOneOf(dispatch);
    const roster = await rosterOf(dispatch);
    return this.#filter(
      dispatch.envelope,
      agent.map((name) => agentIn(roster, name)),
    );
  }

  #filter({ startedAt }: DispatchEnvelope, agentIds: readonly string[] | null): EventFilter {
    const { type, tool, source, failed } = this.#options;
    const text = this.#text;
    return new EventFilter({
      ...(agentIds !== null && { agentIds }),
      ...(type !== undefined && { types: listed(type) }),
      ...(tool !== undefined && { tools: listed(tool) }),
      ...(source !== undefined && { sources: sourcesNamed(source) }),
      ...(failed && { failed }),
      ...(text !== null && { text }),
      ...timeLimitsOf(this.#context, this.#options, startedAt),
    });
  }
}

/** The pages of a stored dispatch, so that Ctrl-C ends a long reading. */
export async function* interruptedPages(
  context: CliContext,
  log: DispatchLog,
): AsyncGenerator<readonly CapturedEvent[]> {
  for await (const { events } of log.pages()) {
    await letInterrupt(context);
    yield events;
  }
}

/** Events in memory, as pages. */
export async function* inOnePage(events: readonly CapturedEvent[]): AsyncGenerator<readonly CapturedEvent[]> {
  yield events;
}

async function rosterOf({ envelope, pages }: FilteredDispatch): Promise<AgentRoster> {
  const roster = new AgentRoster(envelope.role);
  for await (const events of pages()) for (const event of events) roster.learn(event);
  return roster;
}

function agentIn(roster: AgentRoster, wanted: string): string {
  const answer = roster.find(wanted);
  if (answer.kind === 'found') return answer.item.agentId;
  const labels = (answer.kind === 'ambiguous' ? answer.items : roster.agents)
    .map((agent) => roster.label(agent))
    .join(', ');
  throw answer.kind === 'ambiguous'
    ? new CliError(
        exitCode.failed,
        `${answer.items.length} agents are named ${JSON.stringify(wanted)}: ${labels}.`,
        'Name the agent by its id.',
      )
    : new CliError(
        exitCode.failed,
        `There is no agent ${JSON.stringify(wanted)}.`,
        labels === '' ? 'The dispatch has no events.' : `The agents are: ${labels}.`,
      );
}

/** @throws CliError for an unknown kind of source */
function sourcesNamed(words: string): (typeof sourceKinds)[number][] {
  return listed(words).map((word) => {
    const kind = sourceKinds.find((known) => known === word);
    if (kind !== undefined) return kind;
    throw new CliError(
      exitCode.usage,
      `--source ${JSON.stringify(word)} is not a source of messages.`,
      `The sources are: ${sourceKinds.join(', ')}.`,
    );
  });
}

function listed(words: string): string[] {
  return words.split(',').map((word) => word.trim());
}

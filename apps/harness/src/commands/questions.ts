import { resolve } from 'node:path';
import { toTaskName } from '@hansard/compose';
import {
  type CausesInSession,
  causesAcross,
  EventRequest,
  type OpenedSession,
  type OpenedSessions,
  type RequestedEvents,
  readSession,
  readSessions,
  type SessionReading,
} from '@hansard/compose/reading';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  type AgentRef,
  type CausalRow,
  type EventFilter,
  effectsOf,
  flowMermaid,
  type JointRow,
  type LogIndex,
  type MessageFlow,
  messageFlow,
  renderCauses,
  renderDialog,
  renderFlow,
  renderPerspective,
} from '@hansard/views';
import { type Command, Option } from 'commander';
import { withFilterOptions, withSessionFilter } from '../tasks/filter-options.ts';
import { unreadableSessions } from '../tasks/unreadable.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { type CliContext, note, terminalWidth } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { answerFromStore } from '../terminal/with-store.ts';

/** The option of a game's mapping, by whose `parts` texts are split. */
interface MappedOptions {
  readonly mapping?: string;
}

interface AskOptions extends CommonOptions, RequestedEvents, MappedOptions {
  readonly flow?: 'lines' | 'mermaid';
}

interface QuestionOptions extends CommonOptions {
  readonly effects?: boolean;
  readonly depth: number;
}

/** Answers a question about one session. */
export function answerOnSession(
  context: CliContext,
  word: string,
  options: CommonOptions & MappedOptions,
  answer: (log: OpenedSession) => Answer | Promise<Answer>,
): Promise<void> {
  return answerFromStore(context, options, async ({ store }) =>
    answer(await readSession(store, word, sessionReading(context, options))),
  );
}

export function sessionReading(context: CliContext, { mapping }: MappedOptions = {}): SessionReading {
  const { zone = 'local', cwd } = context;
  return {
    zone,
    mapping: mapping === undefined ? undefined : resolve(cwd, mapping),
    onNote: (line) => note(context, `hansard: ${line}`),
  };
}

/** The sessions that are asked, and which of their events are listed. */
export interface AskedSessions {
  readonly opened: OpenedSessions;
  /** The filter of a session. */
  filterOf(dispatchId: string): EventFilter;
}

/** Answers a question about a session, or about all sessions of a task. One that cannot be read is named after the answer. */
export function answerOnSessions(
  context: CliContext,
  word: string,
  { agent: _, mapping, ...options }: CommonOptions & RequestedEvents & MappedOptions,
  answer: (asked: AskedSessions) => Answer | Promise<Answer>,
): Promise<void> {
  return answerFromStore(context, options, async ({ store }) => {
    const request = await EventRequest.parse(context, options);
    const takes = request.takes.bind(request);
    const { sessions: opened, entries } = await readSessions(store, word, {
      ...sessionReading(context, { ...(mapping && { mapping }) }),
      takes,
    });
    const filters = new Map<string, EventFilter>();
    for (const { envelope, paged } of opened.all)
      filters.set(envelope.dispatchId, await request.forOnly(paged));
    const filterOf = (dispatchId: string) => filters.get(dispatchId) as EventFilter;
    const [{ taskDir }] = opened.all as [OpenedSession];
    return {
      ...(await answer({ opened, filterOf })),
      notesAfter: () => request.notes('rows'),
      failure: unreadableSessions(entries, taskDir, 'shown'),
    };
  });
}

/** The rows of a view, those of several sessions below headings. `heads`: whether rows of one session have headings, too. */
export function jointAnswer<Row>(
  { opened }: AskedSessions,
  rows: readonly JointRow<Row>[],
  render: (index: LogIndex, rows: readonly Row[]) => string,
  heads = false,
): Answer {
  const { all, joint } = opened;
  const [{ index }] = all as [OpenedSession];
  const isPlain = rows.length === 0 || (all.length === 1 && !heads);
  return {
    rows: rows.map(({ row, ...place }) => ({ ...(isPlain ? {} : place), ...row })),
    text: isPlain
      ? render(
          index,
          rows.map(({ row }) => row),
        )
      : joint.render(rows, render),
  };
}

export const addDialog: AddCommand = (command, context) =>
  sessionsQuestion(command, 'print only what these agents said to each other', [
    'dialog chat/cafe --agent jack --agent jill',
    'dialog research/route-models --source user',
    'dialog chat/cafe --flow',
    'dialog chat/cafe --flow mermaid',
    'dialog game/village --mapping village.yaml',
  ])
    .addOption(
      new Option('--flow [how]', 'draw one session: a lane for each speaker, an arrow for each that heard it')
        .choices(['lines', 'mermaid'])
        .preset('lines'),
    )
    .action((word: string, options: AskOptions) =>
      options.flow !== undefined
        ? drawFlow(context, word, options, options.flow)
        : answerOnSessions(context, word, options, (asked) => {
            const agents = options.agent?.flatMap((name) => asked.opened.findAgents(name));
            const rows = asked.opened.joint.dialog(agents).filter(({ dispatchId, row }) => {
              const filter = asked.filterOf(dispatchId);
              // A delivery has what a criterion is about as well as the saying.
              return filter.passTogether([row, ...row.audience].map(({ event }) => filter.metBy(event)));
            });
            return jointAnswer(asked, rows, renderDialog);
          }),
    );

function drawFlow(
  context: CliContext,
  word: string,
  { agent, mapping, ...options }: AskOptions,
  how: 'lines' | 'mermaid',
): Promise<void> {
  return answerOnSession(context, word, { ...options, ...(mapping && { mapping }) }, async (log) => {
    if (!(await EventRequest.parse(context, options)).isOpen)
      throw new CliError(
        exitCode.usage,
        '--flow draws a whole session, so it can only be combined with --agent.',
        '`hansard help dialog` has examples.',
      );
    const names = agent?.map((name) => log.findAgent(name).agentId);
    return flowAnswer(context, messageFlow(log.index, names), how);
  });
}
function flowAnswer(context: CliContext, flow: MessageFlow, how: 'lines' | 'mermaid'): Answer {
  const rows = flow.steps.map(({ from, to, notKnown, ...step }) => ({
    ...step,
    from: flow.lanes[from],
    to: to.map(({ lane, how: heard }) => ({ ...flow.lanes[lane], how: heard })),
    notKnown: notKnown.map((lane) => flow.lanes[lane]),
  }));
  if (how === 'lines') return { rows, text: renderFlow(flow, { width: terminalWidth(context) }) };
  const { text, left } = flowMermaid(flow);
  return {
    rows,
    text,
    notesAfter:
      left === 0
        ? []
        : [
            `hansard: Programs that draw Mermaid refuse longer diagrams: the last ${left} of ${flow.steps.length} sayings are left out. Choose agents with --agent.`,
          ],
  };
}

export const addPerspective: AddCommand = (command, context) =>
  sessionsQuestion(command, 'the agents whose perspectives are printed', [
    'perspective chat/cafe --agent jill',
    'perspective chat/cafe --agent jack --agent jill --source user,agent',
  ]).action((word: string, { agent: names = [], ...options }: AskOptions) => {
    if (names.length === 0)
      throw new CliError(
        exitCode.usage,
        'A perspective is that of agents.',
        'Give --agent NAME, once or more; `hansard tree SESSION` lists the agents.',
      );
    return answerOnSessions(context, word, options, (asked) => {
      const agents = agentsOf(asked, names);
      const rows = asked.opened.joint
        .perspective(agents)
        .filter(({ dispatchId, row }) => asked.filterOf(dispatchId).passes(row.event));
      return jointAnswer(asked, rows, renderPerspective, agents.length > 1);
    });
  });

/** The agents that words name, each once. */
export function agentsOf({ opened }: AskedSessions, names: readonly string[]): readonly AgentRef[] {
  const found = names.flatMap((name) => opened.findAgents(name));
  return [...new Map(found.map((ref) => [`${ref.dispatchId} ${ref.agentId}`, ref])).values()];
}

/** How many links away from the event `why` looks, unless asked. */
const usualDepth = 10;

export const addWhy: AddCommand = (command, context) =>
  question(
    command
      .option('--effects', 'print what followed from the event, down to the last effect')
      .option(
        '--depth <n>',
        'print only what is at most n links away from the event',
        parseCount({ from: 1, example: 20 }),
        usualDepth,
      ),
    ['why chat/cafe 12', 'why latest @15:04', 'why chat/cafe 12 --effects --depth 3'],
  ).action((word: string, address: string, options: QuestionOptions) =>
    answerFromStore(context, options, async ({ store }) => {
      const log = await readSession(store, word, sessionReading(context));
      const id = await log.findEventId(address);
      const { depth } = options;
      if (options.effects === true) {
        const all = effectsOf(log.index, id);
        return { ...causesAnswer([{ session: log, rows: all }], depth), notesAfter: moreNotes(all, depth) };
      }
      const { sessions, lost } = await causesAcross(store, log, id, depth);
      const notes = lost.map(({ dispatchId, id: event, hasSession }) =>
        hasSession
          ? `hansard: The session ${dispatchId} does not have the event ${event}, so the causes end there.`
          : `hansard: The store does not have the session ${dispatchId}, so the causes of its event ${event} are not known.`,
      );
      const notesAfter = [...notes, ...moreNotes(sessions[0]?.rows ?? [], depth)];
      return { ...causesAnswer(sessions, depth), notesAfter };
    }),
  );

/** The rows of the session that was asked, then the rows of each other session below its name. */
function causesAnswer(sessions: readonly CausesInSession[], depth: number): Pick<Answer, 'rows' | 'text'> {
  const near = sessions.map(({ session, rows }) => ({
    session,
    rows: rows.filter(({ distance }) => distance <= depth),
  }));
  const heading = ({ taskDir, envelope: { role, dispatchId } }: OpenedSession) =>
    `\n${neutraliseControlsInLine(`In ${role} ${toTaskName(taskDir)}/${dispatchId}:`)}\n`;
  return {
    rows: near.flatMap(({ session, rows }) =>
      rows.map((row) => ({ dispatchId: session.envelope.dispatchId, ...row })),
    ),
    text: near
      .map(
        ({ session, rows }, at) => `${at === 0 ? '' : heading(session)}${renderCauses(session.index, rows)}`,
      )
      .join('\n'),
  };
}

function moreNotes(all: readonly CausalRow[], depth: number): string[] {
  const more = all.filter(({ distance }) => distance > depth).length;
  const furthest = all.reduce((most, { distance }) => Math.max(most, distance), 0);
  return more === 0 ? [] : [`hansard: ${more} more; --depth ${furthest} prints all.`];
}

export function withMapping(command: Command): Command {
  return command.option(
    '--mapping <file>',
    'split texts by `parts` of this game mapping (YAML or JSON): thoughts in them are thoughts, and whispers reach only some',
  );
}

function sessionsQuestion(command: Command, agentWhat: string, examples: readonly string[]): Command {
  return withExamples(
    withMapping(withSessionFilter(withFilterOptions(withCommonOptions(command), agentWhat))),
    ...examples,
  );
}

function question(command: Command, examples: readonly string[]): Command {
  return withExamples(withCommonOptions(command), ...examples);
}

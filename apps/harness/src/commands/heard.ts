import { EventRequest, type OpenedSession, type RequestedEvents } from '@hansard/compose/reading';
import {
  deliveryDiffs,
  type EventFilter,
  type HearingMatrix,
  type HearingRow,
  hearingMatrix,
  knownBy,
  type LogIndex,
  neverHeard,
  renderDeliveryDiffs,
  renderHearing,
  renderKnown,
  renderNeverHeard,
  type Saying,
} from '@hansard/views';
import { withFilterOptions, withSessionFilter } from '../tasks/filter-options.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { type CliContext, terminalWidth } from '../terminal/context.ts';
import {
  type AskedSessions,
  agentsOf,
  answerOnSession,
  answerOnSessions,
  jointAnswer,
  withMapping,
} from './questions.ts';

interface HeardOptions extends CommonOptions, RequestedEvents {
  readonly mapping?: string;
  readonly never?: boolean;
  readonly diff?: boolean;
}

export const addHeard: AddCommand = (command, context) => {
  withExamples(
    withMapping(
      withSessionFilter(
        withFilterOptions(withCommonOptions(command), 'print what this agent knew, and its source'),
      ),
    )
      .option('--never', 'list the agents that the event never reached, or of which it is not known')
      .option('--diff', 'compare the event, an utterance, with each of its deliveries, word by word'),
    'heard chat/cafe',
    'heard chat/cafe 31 --never',
    'heard chat/cafe 18 --diff',
    'heard chat/cafe @15:04 --agent jill',
  ).action((word: string, event: string | undefined, options: HeardOptions) =>
    event === undefined && options.never !== true && options.diff !== true
      ? answerOnSessions(context, word, options, (asked) => sessionsAnswer(context, asked, options))
      : answerOnSession(context, word, options, (log) => eventAnswer(context, log, event, options)),
  );
};

/** What agents with one name knew by the end; without a name, or with several, who heard what: a table for each session. */
async function sessionsAnswer(
  context: CliContext,
  asked: AskedSessions,
  { agent: names = [] }: HeardOptions,
): Promise<Answer> {
  const { joint, all } = asked.opened;
  const agents = agentsOf(asked, names);
  if (names.length === 1) {
    const known = joint
      .known(agents)
      .filter(({ dispatchId, row }) => asked.filterOf(dispatchId).passes(row.event));
    return jointAnswer(asked, known, renderKnown, agents.length > 1);
  }
  const width = terminalWidth(context);
  const tables = all.flatMap(({ index, envelope: { dispatchId } }) => {
    const own = agents.flatMap((one) => (one.dispatchId === dispatchId ? one.agentId : []));
    if (own.length === 0 && names.length > 0) return [];
    const matrix = matrixOf(index, { agentIds: own, filter: asked.filterOf(dispatchId), only: null });
    return matrix.rows.map((row) => ({ dispatchId, agentId: null, copyOf: null, row: { row, matrix } }));
  });
  const answer = jointAnswer(asked, tables, (index, rows) => {
    const matrix = { agents: rows[0]?.matrix.agents ?? [], rows: rows.map(({ row }) => row) };
    return renderHearing(index, matrix, { width });
  });
  return {
    ...answer,
    rows: tables.map(({ dispatchId, row: { row } }) => ({
      ...(all.length > 1 && { dispatchId }),
      ...documentOf(row),
    })),
  };
}

async function eventAnswer(
  context: CliContext,
  log: OpenedSession,
  event: string | undefined,
  options: HeardOptions,
): Promise<Answer> {
  const { agent: agents = [], never, diff } = options;
  const id = event === undefined ? null : await log.findEventId(event);
  if (never === true || diff === true) {
    assertOne(id, agents, never === true && diff === true);
    return never === true ? neverAnswer(log, id) : diffAnswer(log, id);
  }
  const filter = await filterOf(context, log, options);
  const [agent, ...others] = agents;
  if (agent === undefined || others.length > 0) return matrixAnswer(context, log, { id, agents, filter });
  const known = knownBy(log.index, log.findAgent(agent).agentId, id ?? undefined);
  const rows = known.filter(({ event: one }) => filter.passes(one));
  return { rows, text: renderKnown(log.index, rows) };
}

function assertOne(id: string | null, agents: readonly string[], isBoth: boolean): asserts id is string {
  const problem =
    id === null
      ? '--never and --diff need an event.'
      : isBoth
        ? '--never and --diff can not be combined.'
        : agents.length > 0
          ? '--never and --diff are about all agents, so they can not be combined with --agent.'
          : null;
  if (problem !== null) throw new CliError(exitCode.usage, problem, '`hansard help heard` has examples.');
}

/** The filter of what is listed; --agent names whose hearing it is. */
async function filterOf(context: CliContext, log: OpenedSession, { agent: _, ...options }: HeardOptions) {
  const request = await EventRequest.parse(context, options);
  return request.forOnly(log.paged);
}

function neverAnswer({ index }: OpenedSession, id: string): Answer {
  const rows = explainSaying(() => neverHeard(index, id));
  return { rows, text: renderNeverHeard(rows) };
}

function diffAnswer({ index }: OpenedSession, id: string): Answer {
  const rows = explainSaying(() => deliveryDiffs(index, id));
  return { rows, text: renderDeliveryDiffs(index, rows) };
}

interface Asked {
  readonly id: string | null;
  /** Absent: all agents. */
  readonly agents: readonly string[];
  readonly filter: Awaited<ReturnType<typeof filterOf>>;
}

/** Who heard the utterance that was asked for. */
function matrixAnswer(context: CliContext, log: OpenedSession, { id, agents, filter }: Asked): Answer {
  const { index } = log;
  const agentIds = agents.map((name) => log.findAgent(name).agentId);
  const node = id === null ? null : index.find(id);
  // Says what the event is, if nothing was said in it.
  if (id !== null) explainSaying(() => neverHeard(index, id));
  const matrix = matrixOf(index, { agentIds, filter, only: node && index.sayingOf(node) });
  return {
    rows: matrix.rows.map(documentOf),
    text: renderHearing(index, matrix, { width: terminalWidth(context) }),
  };
}

/** A row for each utterance, or for `only`, and a column for each agent; without `agentIds`, for all. */
function matrixOf(
  index: LogIndex,
  {
    agentIds,
    filter,
    only,
  }: { readonly agentIds: readonly string[]; readonly filter: EventFilter; readonly only: Saying | null },
): HearingMatrix {
  const all = hearingMatrix(index);
  return {
    agents: all.agents.filter(({ agentId }) => agentIds.length === 0 || agentIds.includes(agentId)),
    rows: all.rows.filter(
      ({ saying }) => filter.passes(saying.event) && (only === null || saying.id === only.id),
    ),
  };
}

function documentOf({ saying, cells, notKnown }: HearingRow) {
  return { ...saying, cells: Object.fromEntries(cells), notKnown };
}

/** Looks up an utterance by id. @throws CliError for the id of another event, or of text compiled from several utterances */
function explainSaying<Rows>(ask: () => Rows): Rows {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CliError(
      exitCode.failed,
      error.message,
      '`hansard dialog SESSION` prints the positions of what was said.',
      { cause: error },
    );
  }
}

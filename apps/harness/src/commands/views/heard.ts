import {
  hearingMatrix,
  knownBy,
  neverHeard,
  renderHearing,
  renderKnown,
  renderNeverHeard,
} from '@hansard/views';
import type { SessionLog } from '../../session/session-log.ts';
import {
  type FilterOptions,
  FilterRequest,
  inOnePage,
  withFilterOptions,
} from '../../tasks/filter-options.ts';
import type { Answer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { type AddCommand, eventHelp } from '../../terminal/command.ts';
import { type CliContext, terminalWidth } from '../../terminal/context.ts';
import { explainSaying } from './explain-saying.ts';
import { addSessionView, type SessionViewOptions } from './session-view-command.ts';

interface HeardOptions extends SessionViewOptions, FilterOptions {
  readonly at?: string;
  readonly never?: string;
}

export const addHeard: AddCommand = (command, context) => {
  withFilterOptions(command)
    .option('--at <event>', `show what the agent had heard up to this event: ${eventHelp}`)
    .option('--never <event>', 'list the agents that this never reached, or of which it is not known');
  addSessionView<HeardOptions>(command, context, {
    example: 'heard chat/cafe jill --at @15:04',
    words: 1,
    view: (log, [agent], options) => heard(context, log, agent, options),
  });
};

async function heard(
  context: CliContext,
  log: SessionLog,
  agent: string | undefined,
  options: HeardOptions,
): Promise<Answer> {
  const { index, envelope } = log;
  const { at, never } = options;
  if (at !== undefined && agent === undefined) wrongWords('--at needs an agent.');
  if (never !== undefined && agent !== undefined)
    wrongWords('--never lists all agents, so it can not be combined with an agent.');
  const request = await FilterRequest.parse(context, options);
  const filter = await request.forOnly({ envelope, pages: () => inOnePage(index.events) });
  if (never !== undefined) {
    const id = await log.findEventId(never);
    const rows = explainSaying(() => neverHeard(index, id));
    return { rows, text: renderNeverHeard(rows) };
  }
  if (agent === undefined) {
    const { agents, rows: all } = hearingMatrix(index);
    const matrix = { agents, rows: all.filter(({ saying }) => filter.passes(saying.event)) };
    const rows = matrix.rows.map(({ saying, cells, notKnown }) => ({
      ...saying,
      cells: Object.fromEntries(cells),
      notKnown,
    }));
    return { rows, text: renderHearing(index, matrix, { width: terminalWidth(context) }) };
  }
  const { agentId } = log.findAgent(agent);
  const known = knownBy(index, agentId, at === undefined ? undefined : await log.findEventId(at));
  const rows = known.filter(({ event }) => filter.passes(event));
  return { rows, text: renderKnown(index, rows) };
}

function wrongWords(message: string): never {
  throw new CliError(exitCode.usage, message, '`hansard help heard` has an example.');
}

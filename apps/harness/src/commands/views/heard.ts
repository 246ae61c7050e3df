import {
  hearingMatrix,
  knownBy,
  type LogIndex,
  neverHeard,
  renderHearing,
  renderKnown,
  renderNeverHeard,
} from '@hansard/views';
import { assertEvent, findAgent } from '../../session/read-session-log.ts';
import type { Answer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import type { AddCommand } from '../../terminal/command.ts';
import { explainSaying } from './explain-saying.ts';
import { addSessionView, type SessionViewOptions } from './session-view-command.ts';

interface HeardOptions extends SessionViewOptions {
  readonly at?: string;
  readonly never?: string;
}

export const addHeard: AddCommand = (command, context) => {
  command
    .option('--at <id>', 'show what the agent had heard up to this event or message')
    .option('--never <id>', 'list the agents that this never reached, or of which it is not known');
  addSessionView<HeardOptions>(command, context, {
    example: 'heard chat/cafe jill --at 01JM8Z7T3V0000000000000000',
    view: (index, [agent], options) => heard(index, agent, options),
  });
};

function heard(index: LogIndex, agent: string | undefined, { at, never }: HeardOptions): Answer {
  if (at !== undefined && agent === undefined) wrongWords('--at needs an agent.');
  if (never !== undefined && agent !== undefined)
    wrongWords('--never lists all agents, so it can not be combined with an agent.');
  if (at !== undefined) assertEvent(index, at);
  if (never !== undefined) {
    assertEvent(index, never);
    const rows = explainSaying(() => neverHeard(index, never));
    return { rows, text: renderNeverHeard(rows) };
  }
  if (agent === undefined) {
    const matrix = hearingMatrix(index);
    const rows = matrix.rows.map(({ saying, cells }) => ({ ...saying, cells: Object.fromEntries(cells) }));
    return { rows, text: renderHearing(index, matrix) };
  }
  const rows = knownBy(index, findAgent(index, agent).agentId, at);
  return { rows, text: renderKnown(index, rows) };
}

function wrongWords(message: string): never {
  throw new CliError(exitCode.usage, message, '`hansard help heard` has an example.');
}

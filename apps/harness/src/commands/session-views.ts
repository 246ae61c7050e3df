import {
  agentTree,
  causesOf,
  deliveryDiffs,
  dialogOf,
  effectsOf,
  hearingMatrix,
  interventionsOf,
  knownBy,
  type LogIndex,
  neverHeard,
  perspectiveOf,
  renderAgentTree,
  renderCauses,
  renderDeliveryDiffs,
  renderDialog,
  renderHearing,
  renderInterventions,
  renderKnown,
  renderNeverHeard,
  renderPerspective,
} from '@hansard/views';
import { assertEvent, findAgent } from '../session/read-session-log.ts';
import {
  addSessionView,
  type SessionAnswer,
  type SessionViewOptions,
} from '../session/session-view-command.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { AddCommand } from '../terminal/command.ts';

interface DialogOptions extends SessionViewOptions {
  readonly agents?: string;
}

interface HeardOptions extends SessionViewOptions {
  readonly at?: string;
  readonly never?: string;
}

const idArgument = [
  '<id>',
  'the id of an event or a message, as `hansard dialog` and `hansard events --json` show it',
] as const;

export const addSessionViews: AddCommand = (program, context) => {
  addSessionView<DialogOptions>(program, context, {
    name: 'dialog',
    description: 'what agents said to each other: each thing once, with who heard it and how',
    example: 'dialog chat/cafe --agents jack,jill',
    add: (command) =>
      command.option(
        '--agents <names>',
        'only between these, by names or ids parted by commas (default: everything that was said)',
      ),
    view(index, _words, { agents }) {
      const rows = dialogOf(index, agents === undefined ? undefined : namedAgents(index, agents.split(',')));
      return { rows, text: renderDialog(index, rows) };
    },
  });

  addSessionView(program, context, {
    name: 'perspective',
    description: 'what one agent heard, thought, did, received and said',
    example: 'perspective chat/cafe jill',
    add: (command) => command.argument('<agent>', 'its name or id'),
    view(index, [agent = '']) {
      const rows = perspectiveOf(index, findAgent(index, agent).agentId);
      return { rows, text: renderPerspective(index, rows) };
    },
  });

  addSessionView<HeardOptions>(program, context, {
    name: 'heard',
    description:
      'who heard what; or what one agent knew, and how it came to it; or who never heard something',
    example: 'heard chat/cafe jill --at 01JM8Z7T3V0000000000000000',
    add: (command) =>
      command
        .argument('[agent]', 'its name or id (default: a table of all)')
        .option('--at <id>', 'what the agent had heard when this event or message had happened')
        .option('--never <id>', 'the agents that this never reached'),
    view: (index, [agent], options) => heard(index, agent, options),
  });

  addSessionView(program, context, {
    name: 'why',
    description: 'what brought an event about, up to the beginning',
    example: 'why chat/cafe 01JM8Z7T3V0000000000000000',
    add: (command) => command.argument(...idArgument),
    view: (index, [id = '']) => causal(index, id, causesOf),
  });

  addSessionView(program, context, {
    name: 'effects',
    description: 'what an event brought about, down to the end',
    example: 'effects chat/cafe 01JM8Z7T3V0000000000000000',
    add: (command) => command.argument(...idArgument),
    view: (index, [id = '']) => causal(index, id, effectsOf),
  });

  addSessionView(program, context, {
    name: 'diff',
    description: 'what was said beside what each agent got to hear, word by word',
    example: 'diff chat/cafe 01JM8Z7T3V0000000000000000',
    add: (command) => command.argument(...idArgument),
    view(index, [id = '']) {
      assertEvent(index, id);
      const rows = ofSaying(() => deliveryDiffs(index, id));
      return { rows, text: renderDeliveryDiffs(index, rows) };
    },
  });

  addSessionView(program, context, {
    name: 'agents',
    description: 'the agents of a session below those that created them',
    example: 'agents chat/cafe',
    view(index) {
      const rows = agentTree(index);
      return { rows, text: renderAgentTree(rows) };
    },
  });

  addSessionView(program, context, {
    name: 'hooks',
    description: 'what hooks did: who, on what, the decision, its effect',
    example: 'hooks chat/cafe',
    view(index) {
      const rows = interventionsOf(index);
      return { rows, text: renderInterventions(index, rows) };
    },
  });
};

function namedAgents(index: LogIndex, names: readonly string[]): string[] {
  return names.map((name) => findAgent(index, name.trim()).agentId);
}

function heard(index: LogIndex, agent: string | undefined, { at, never }: HeardOptions): SessionAnswer {
  if (at !== undefined && agent === undefined) wrongWords('--at needs an agent: what had it heard by then?');
  if (never !== undefined && agent !== undefined)
    wrongWords('--never tells of every agent; leave the agent out.');
  if (at !== undefined) assertEvent(index, at);
  if (never !== undefined) {
    assertEvent(index, never);
    const rows = ofSaying(() => neverHeard(index, never));
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

/** Asks for what was said by its id: an id of anything else, or of what was compiled from several lines, is explained. */
function ofSaying<Rows>(ask: () => Rows): Rows {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CliError(
      exitCode.failed,
      error.message,
      '`hansard dialog TASK` shows the ids of what was said.',
      { cause: error },
    );
  }
}

function wrongWords(message: string): never {
  throw new CliError(exitCode.usage, message, '`hansard help heard` has an example.');
}

function causal(index: LogIndex, id: string, follow: typeof causesOf): SessionAnswer {
  assertEvent(index, id);
  const rows = follow(index, id);
  return { rows, text: renderCauses(index, rows) };
}

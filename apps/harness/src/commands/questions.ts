import { type OpenedSession, readSession, type SessionReading } from '@hansard/compose/reading';
import {
  causesOf,
  dialogOf,
  effectsOf,
  flowMermaid,
  type MessageFlow,
  messageFlow,
  perspectiveOf,
  renderCauses,
  renderDialog,
  renderFlow,
  renderPerspective,
} from '@hansard/views';
import { type Command, Option } from 'commander';
import { agentOption } from '../tasks/filter-options.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { type CliContext, note, terminalWidth } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface QuestionOptions extends CommonOptions {
  readonly agent?: readonly string[];
  readonly effects?: boolean;
  readonly depth: number;
  readonly flow?: 'lines' | 'mermaid';
}

/** Answers a question about one session. */
export function answerOnSession(
  context: CliContext,
  word: string,
  options: CommonOptions,
  answer: (log: OpenedSession) => Answer | Promise<Answer>,
): Promise<void> {
  return answerFromStore(context, options, async ({ store }) =>
    answer(await readSession(store, word, sessionReading(context))),
  );
}

export function sessionReading(context: CliContext): SessionReading {
  const { zone = 'local' } = context;
  return { zone, onNote: (line) => note(context, `hansard: ${line}`) };
}

export const addDialog: AddCommand = (command, context) =>
  question(
    command
      .addOption(agentOption('print only what these agents said to each other'))
      .addOption(
        new Option('--flow [how]', 'draw it: a lane for each speaker, an arrow for each that heard it')
          .choices(['lines', 'mermaid'])
          .preset('lines'),
      ),
    [
      'dialog chat/cafe --agent jack --agent jill',
      'dialog chat/cafe --flow',
      'dialog chat/cafe --flow mermaid',
    ],
  ).action((word: string, options: QuestionOptions) =>
    answerOnSession(context, word, options, (log) => {
      const names = options.agent?.map((name) => log.findAgent(name).agentId);
      if (options.flow !== undefined) return flowAnswer(context, messageFlow(log.index, names), options.flow);
      const rows = dialogOf(log.index, names);
      return { rows, text: renderDialog(log.index, rows) };
    }),
  );

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
  question(command.addOption(agentOption('the agent whose perspective is printed').makeOptionMandatory()), [
    'perspective chat/cafe --agent jill',
  ]).action((word: string, { agent = [], ...options }: QuestionOptions) => {
    const [name = '', ...others] = agent;
    if (others.length > 0)
      throw new CliError(
        exitCode.usage,
        'A perspective is that of one agent.',
        'Give --agent once; `hansard dialog SESSION --agent ONE --agent OTHER` prints what several said.',
      );
    return answerOnSession(context, word, options, (log) => {
      const rows = perspectiveOf(log.index, log.findAgent(name).agentId);
      return { rows, text: renderPerspective(log.index, rows) };
    });
  });

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
    answerOnSession(context, word, options, async (log) => {
      const id = await log.findEventId(address);
      const all = (options.effects === true ? effectsOf : causesOf)(log.index, id);
      const rows = all.filter(({ distance }) => distance <= options.depth);
      const furthest = all.reduce((most, { distance }) => Math.max(most, distance), 0);
      return {
        rows,
        text: renderCauses(log.index, rows),
        notesAfter:
          rows.length === all.length
            ? []
            : [`hansard: ${all.length - rows.length} more; --depth ${furthest} prints all.`],
      };
    }),
  );

function question(command: Command, examples: readonly string[]): Command {
  return withExamples(withCommonOptions(command), ...examples);
}

import { type ExportFormatId, type ExportOptions, exportFormats, type FormatOptions } from '@hansard/compose';
import { defaultMaxBytes, type ReasoningMode, trainingFormats } from '@hansard/datasets';
import type { RedactionCounts, TextSink } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { agentOption } from '../tasks/filter-options.ts';
import { unreadableTasks } from '../tasks/unreadable.ts';
import { letDrain, printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { harmlessJson } from '../terminal/harmless-json.ts';
import { createProgress } from '../terminal/progress.ts';
import { withStore } from '../terminal/with-store.ts';

interface ExportCommandOptions extends CommonOptions {
  readonly as: ExportFormatId;
  readonly out?: string;
}

const descriptions: Readonly<Record<ExportFormatId, string>> = {
  'session-v1': 'a session log of the older dialect',
  'session-v2': 'a session log',
  smallchat: 'a log of smallchat',
  otlp: 'OpenTelemetry traces as OTLP/JSON lines, or sent to --endpoint',
  markdown: 'a report of a task: tree, cost, dialog, the view of each agent',
  'pull-request': 'Markdown of prompts, decisions, answers and edited files',
  html: 'the same report as one HTML page with find and filters',
  pages: 'HTML pages of all tasks or of one, with an index',
  streams: 'the five streams of a game log, one file each; needs --mapping',
  'agent-trace': 'which lines of which files come from which event, as Agent Trace',
  atif: 'a trajectory of ATIF (trajectory.json) with its images',
  sft: 'training data, prompt and completion as text (sft_dataset.jsonl)',
  trl: 'training data for TRL, prompt and completion of each call',
  'trl-chat': 'training data for TRL, whole conversations',
  openai: "training data in OpenAI's chat format",
};

const unitBytes = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const;

/** The options of formats, in the order of the help. */
const formatOptions: Readonly<Record<keyof FormatOptions, Option>> = {
  endpoint: new Option('--endpoint <url>', 'send to this OTLP receiver, such as http://localhost:4318'),
  content: new Option(
    '--content <where>',
    'put texts, tool input and tool output nowhere, on log records or on spans',
  )
    .choices(['none', 'events', 'spans'])
    .default('none'),
  dataOf: new Option(
    '--data-of <types>',
    "include the data of these types of your own, such as 'game:*' (with --content)",
  ).argParser((types: string) => types.split(',').map((type) => type.trim())),
  reasoning: new Option(
    '--reasoning',
    'include the reasoning of models, and data that can have it (with --content)',
  ),
  project: new Option(
    '--project <text>',
    'without a task: only tasks whose project contains this text, ignoring case',
  ),
  mapping: new Option(
    '--mapping <file>',
    'map the events and tools of a game (YAML or JSON); required for streams of other than imported game logs',
  ),
  extended: new Option(
    '--extended',
    'add keys to those of the specification: run_id, event_id and a file of whispers (streams), causes (session logs)',
  ),
  follow: new Option(
    '-f, --follow',
    'write also what is recorded from now on, until the session ends or Ctrl-C (streams, session logs); a second call continues the files',
  ),
  agents: agentOption('train only these agents (training data)'),
  thoughts: new Option(
    '--thoughts <how>',
    'write thoughts as think-tags, or for TRL as reasoning_content or thinking (training data; default: drop)',
  ),
  tools: new Option(
    '--tools <file>',
    'add these tool definitions (a JSON array) to each row (training data)',
  ),
  maxBytes: new Option(
    '--max-bytes <size>',
    'write nothing if the estimated size is above this, such as 500MB or 10GB (training data)',
  )
    .argParser(parseBytes)
    .default(defaultMaxBytes, '1GB'),
};

export const addExport: AddCommand = (command, context) => {
  const formats = Object.keys(exportFormats) as ExportFormatId[];
  withCommonOptions(command)
    .addOption(
      new Option('--as <format>', 'write this format; see below').choices(formats).makeOptionMandatory(),
    )
    .option('--out <path>', 'write to this new file or folder (default for a text: standard output)');
  for (const option of Object.values(formatOptions)) command.addOption(option);
  const width = Math.max(...formats.map((id) => id.length));
  const list = formats.map((id) => `  ${id.padEnd(width)}  ${descriptions[id]}`);
  command
    .addHelpText(
      'after',
      [
        '',
        'Formats:',
        ...list,
        '',
        'Examples:',
        '  hansard export research/cafe --as html --out cafe.html',
        '  hansard export latest --as session-v2 --out session.jsonl',
        '  hansard export latest --as session-v2 --follow --out session.jsonl',
        '  hansard export village/game --as streams --mapping game.yaml --out streams',
        '  hansard export research/cafe --as markdown | less',
        '  hansard export shop/cart --as agent-trace >> .agent-trace/traces.jsonl',
        '  hansard export latest --as atif --out run',
        '  hansard export --as pages --project research --out site',
        '',
        'An existing file or folder is never overwritten. Until an export is complete,',
        'the name of its file or folder ends in .part; a failed export leaves no files.',
      ].join('\n'),
    )
    .action((session: string | undefined, options: ExportCommandOptions) => {
      const given = optionsOf(command, options.as);
      return exportSessions(context, { ...given, ...(session && { session }) }, options);
    });
};

async function exportSessions(
  context: CliContext,
  given: ExportOptions,
  options: ExportCommandOptions,
): Promise<void> {
  const { as } = options;
  const progress = createProgress(context, `exporting ${given.session ?? 'all tasks'}: events`);
  const output = new Output(context, exportFormats[as].isJson === true);
  // Traces that are sent are not printed, too.
  const isPrinted = exportFormats[as].target === 'text' && given.endpoint === undefined;
  const out = options.out ?? (isPrinted ? output : undefined);
  await withStore(context, options, async (harness) => {
    const exported = await harness
      .export({
        ...given,
        ...(out !== undefined && { out }),
        signal: context.readSignal,
        // No progress on a terminal that shows the export itself.
        onEvents: (count) => output.isOnTerminal || progress.update(count),
      })
      .finally(() => progress.end());
    const { path, summary, leftOut, notes, redactions, listed } = exported;
    await printAnswer(context, options, {
      rows: output.isUsed
        ? []
        : [{ format: as, ...(path !== null && { path }), ...summary, leftOut, redactions }],
      text: path === null ? [] : `${as}: ${path}`,
      notesAfter: [
        ...notes.map((line) => `hansard: ${line}`),
        ...leftOutNotes(as, leftOut),
        ...redactionNotes(redactions),
      ],
      failure: unreadableTasks(listed, 'exported'),
    });
  });
}

/** Standard output, as an export writes to it. */
class Output implements TextSink {
  readonly #context: CliContext;
  readonly #isJson: boolean;
  isUsed = false;

  constructor(context: CliContext, isJson: boolean) {
    this.#context = context;
    this.#isJson = isJson;
  }

  get isOnTerminal(): boolean {
    return this.isUsed && this.#context.stdout.isTTY === true;
  }

  async write(text: string): Promise<void> {
    this.isUsed = true;
    this.#context.stdout.write(this.#isJson ? harmlessJson(text) : text);
    await letDrain(this.#context);
  }
}

/** What was given for a format. @throws CliError for an option of another one */
function optionsOf(command: Command, as: ExportFormatId): ExportOptions {
  const values = command.opts();
  const own = Object.entries(formatOptions).flatMap(([name, option]) => {
    const attribute = option.attributeName();
    if (exportFormats[as].options.some((known) => known === name))
      return [[name, values[attribute]] as const];
    if (command.getOptionValueSource(attribute) !== 'cli') return [];
    throw new CliError(
      exitCode.usage,
      `--${option.name()} does not apply to ${as}.`,
      'Remove it; `hansard help export` lists the options of each format.',
    );
  });
  const given = Object.fromEntries(own.filter(([, value]) => value !== undefined));
  return given.thoughts === undefined
    ? { as, ...given }
    : { as, ...given, thoughts: reasoningMode(as, given.thoughts) };
}

function reasoningMode(as: ExportFormatId, wanted: string): ReasoningMode {
  const { thoughts = [] } = as in trainingFormats ? trainingFormats[as as keyof typeof trainingFormats] : {};
  const mode = thoughts.find((known) => known === wanted);
  if (mode !== undefined) return mode;
  throw new CliError(
    exitCode.usage,
    `${as} can't write thoughts as ${JSON.stringify(wanted)}.`,
    thoughts.length === 0
      ? 'It always includes them: remove --thoughts.'
      : `Use --thoughts with one of: ${thoughts.join(', ')}.`,
  );
}

/** A note about what the output does not have. Session logs and training data have a note of their own for each kind. */
function leftOutNotes(as: ExportFormatId, leftOut: Readonly<Record<string, number>>): string[] {
  const kinds = Object.entries(leftOut)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([kind, count]) => `${count.toLocaleString('en')} ${neutraliseControlsInLine(kind)}`);
  const hasOwnNotes = as.startsWith('session-') || as in trainingFormats;
  return hasOwnNotes || kinds.length === 0 ? [] : [`hansard: Not in ${as}: ${kinds.join(', ')}.`];
}

/** A note about the secrets that an export has replaced: the log still has them. */
export function redactionNotes(counts: RedactionCounts): string[] {
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  if (kinds.length === 0) return [];
  return [
    `hansard: Secrets replaced in the export: ${kinds.join(', ')}. The log still has them; \`hansard secrets redact\` replaces them there.`,
  ];
}

/** A size such as `500MB` or `1.5GB`, as an option's value; in bytes. */
function parseBytes(text: string): number {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,9})?)(B|KB|MB|GB|TB)$/.exec(text) ?? [];
  if (amount === undefined)
    throw new InvalidArgumentError('Give a size with its unit, such as 500MB, 1.5GB or 2TB.');
  return Number(amount) * unitBytes[unit as keyof typeof unitBytes];
}

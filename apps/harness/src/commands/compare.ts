import { toTaskName } from '@hansard/compose';
import {
  type ComparedSession,
  compareBranches,
  compareSessions,
  type RequestDifference,
  type SessionComparison,
} from '@hansard/compose/reading';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { formatCost, formatDuration, formatTokens, shortId, type UsageFigures } from '@hansard/facts';
import { type FirstDifference, foldInWords, type PartingEvent, renderLine } from '@hansard/views';
import { Option } from 'commander';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, terminalWidth } from '../terminal/context.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { answerFromStore } from '../terminal/with-store.ts';

const notKnown = '–';

interface CompareOptions extends CommonOptions {
  readonly branch?: readonly string[];
}

export const addCompare: AddCommand = (command, context) => {
  withCommonOptions(command)
    .addOption(
      new Option(
        '--branch <event>',
        'compare two branches of one session: give this twice, with their ends',
      ).argParser((event: string, before: readonly string[] = []) => [...before, event]),
    )
    .addHelpText(
      'after',
      [
        '',
        'The first difference is the first text, thought, message, call, result or end that is not the same',
        'in both. Ids, times, figures and records of the harness are not compared. If one session began with a copy of the',
        'other, the answer names the head that both have, and the first difference after it. A branch is the transcript of an agent from its',
        'beginning to an event; tree prints the branches of a session.',
        '',
        'Examples:',
        '  hansard compare 4K7Q latest',
        '  hansard compare lab/old/latest lab/new/latest --json',
        '  hansard compare latest --branch 9 --branch 12',
      ].join('\n'),
    )
    .action((word: string, other: string | undefined, options: CompareOptions) => {
      const [one, second, ...more] = options.branch ?? [];
      const areBranches = other === undefined && second !== undefined && more.length === 0;
      if (!areBranches && (other === undefined || one !== undefined))
        throw new CliError(
          exitCode.usage,
          'Compare two sessions, or one session with --branch given twice.',
          '`hansard help compare` has examples.',
        );
      return answerFromStore(context, options, async ({ store }) => {
        const compared =
          one !== undefined && second !== undefined
            ? await compareBranches(store, word, [one, second], { ...context, signal: context.readSignal })
            : await compareSessions(store, word, other ?? '', context.readSignal);
        return { rows: [documentOf(compared)], text: await inWords(context, compared) };
      });
    });
};

function documentOf({ one, other, ...compared }: SessionComparison): object {
  const side = ({ taskDir, envelope, events, figures, tools, result, branch }: ComparedSession) => ({
    taskDir,
    dispatchId: envelope.dispatchId,
    ...(branch !== undefined && { branch }),
    role: envelope.role,
    status: envelope.status,
    model: envelope.model,
    events,
    ...figures,
    tools: [...tools.values()].map(({ key: tool, toolCalls, failedToolCalls, durationMs }) => ({
      tool,
      toolCalls,
      failedToolCalls,
      durationMs,
    })),
    result,
  });
  return { one: side(one), other: side(other), ...compared };
}

async function inWords(context: CliContext, compared: SessionComparison): Promise<string> {
  const { one, other: two, head: repeated, firstDifference: difference } = compared;
  const width = terminalWidth(context);
  const head = ['', nameOf(one), nameOf(two), 'difference'];
  const table = await plainTable(head, tableRows(one, two), {
    width,
    cut: [1, 2].map((at) => ({ column: head[at] ?? '', least: 12 })),
  });
  return [
    table,
    '',
    ...resultInWords(compared),
    '',
    ...(repeated === null
      ? []
      : [`${nameOf(repeated.in === 'one' ? one : two)}: ${foldInWords(repeated.fold)}.`]),
    ...differenceInWords(difference, [nameOf(one), nameOf(two)], { width, isAfterHead: repeated !== null }),
    ...compared.requestDifferences.flatMap((found) => requestInWords(found, [nameOf(one), nameOf(two)])),
  ].join('\n');
}

function nameOf({ envelope: { role, dispatchId }, branch }: ComparedSession): string {
  if (branch !== undefined) return `branch ${branch.end}`;
  return neutraliseControlsInLine(`${role} ${shortId(dispatchId)}`);
}

type Format = (value: number) => string;
const plain: Format = (value) => value.toLocaleString('en');

const figureRows: readonly (readonly [Exclude<keyof UsageFigures, 'unpriced'>, string, Format])[] = [
  ['modelCalls', 'calls of models', plain],
  ['inputTokens', 'tokens in', formatTokens],
  ['outputTokens', 'tokens out', formatTokens],
  ['cacheReadTokens', 'from cache', formatTokens],
  ['cacheWriteTokens', 'to cache', formatTokens],
  ['cacheWrite1hTokens', 'to cache for 1h', formatTokens],
  ['reasoningTokens', 'reasoning', formatTokens],
  ['webSearchRequests', 'web searches', plain],
  ['costUsd', 'cost', formatCost],
  ['estimatedUsd', 'estimated', formatCost],
  ['durationMs', 'time', formatDuration],
];

function tableRows(one: ComparedSession, two: ComparedSession): string[][] {
  const { envelope: first } = one;
  const { envelope: second } = two;
  const words = (name: string, left: string | null, right: string | null) =>
    left === null && right === null
      ? []
      : [[name, left ?? notKnown, right ?? notKnown, left === right ? '' : 'differs']];
  const numbers = (name: string, left: number | null, right: number | null, format: Format) =>
    (left ?? 0) === 0 && (right ?? 0) === 0
      ? []
      : [[name, shown(left, format), shown(right, format), change(left, right, format)]];
  const tools = [...new Set([...one.tools.keys(), ...two.tools.keys()])].sort();
  return [
    ...words(
      'task',
      one.taskDir === two.taskDir ? null : toTaskName(one.taskDir),
      one.taskDir === two.taskDir ? null : toTaskName(two.taskDir),
    ),
    ...(one.branch === undefined ? words('status', first.status, second.status) : []),
    ...words('model', first.model, second.model),
    ...numbers('events', one.events, two.events, plain),
    ...figureRows.flatMap(([key, name, format]) =>
      numbers(name, one.figures[key] ?? null, two.figures[key] ?? null, format),
    ),
    ...tools.flatMap((tool) => {
      const [left, right] = [one.tools.get(tool), two.tools.get(tool)];
      return [
        ...numbers(`calls of ${tool}`, left?.toolCalls ?? 0, right?.toolCalls ?? 0, plain),
        ...((left?.failedToolCalls ?? 0) + (right?.failedToolCalls ?? 0) === 0
          ? []
          : numbers(`  failed`, left?.failedToolCalls ?? 0, right?.failedToolCalls ?? 0, plain)),
      ];
    }),
  ];
}

function shown(value: number | null, format: Format): string {
  return value === null ? notKnown : format(value);
}

function change(left: number | null, right: number | null, format: Format): string {
  if (left === null || right === null) return left === right ? '' : 'not known';
  const by = right - left;
  if (by === 0) return '';
  const share = left === 0 ? '' : ` (${by > 0 ? '+' : '−'}${Math.round((Math.abs(by) / left) * 100)} %)`;
  return `${by > 0 ? '+' : '−'}${format(Math.abs(by))}${share}`;
}

/** How the requests of two calls differ: by name, and the values of parameters. */
function requestInWords(found: RequestDifference, [left, right]: readonly [string, string]): string[] {
  const { part, call, one, other, onlyOne, onlyOther, changed } = found;
  const isReordered = onlyOne.length + onlyOther.length + changed.length === 0;
  const nothing = isReordered ? 'the same in another order' : 'nothing that is only here';
  const line = (name: string, own: readonly string[], { position, request }: RequestDifference['one']) => {
    const shown = (key: string) =>
      part === 'tools' ? key : `${key} ${JSON.stringify(request.parameters.value?.[key])}`;
    const words = [
      ...own.map((key) => `only here ${shown(key)}`),
      ...changed.map((key) => (part === 'tools' ? `another definition of ${key}` : shown(key))),
    ];
    return neutraliseControlsInLine(`  ${name}: ${position}  ${words.join(', ') || nothing}`);
  };
  return [
    '',
    `The ${part} that models were given differ at call ${call} of an agent:`,
    line(left, onlyOne, one),
    line(right, onlyOther, other),
  ];
}

function resultInWords({ one, other: two, isResultEqual }: SessionComparison): string[] {
  if (one.result === null && two.result === null) return ['No result is recorded.'];
  if (isResultEqual) return ['The results are the same.'];
  const text = ({ result }: ComparedSession) =>
    result === null ? 'none is recorded' : typeof result === 'string' ? result : JSON.stringify(result);
  return [
    'The results differ:',
    ...[one, two].map((side) => `  ${nameOf(side)}: ${neutraliseControlsInLine(text(side))}`),
  ];
}

function differenceInWords(
  difference: FirstDifference | null,
  names: readonly [string, string],
  { width, isAfterHead }: { readonly width: number | undefined; readonly isAfterHead: boolean },
): string[] {
  if (difference === null)
    return [isAfterHead ? 'After these, both say and do the same.' : 'Both say and do the same.'];
  const { same, field, one, other } = difference;
  const [start, next] = isAfterHead
    ? ['After these, they differ at once', 'After these, the next']
    : ['They differ from the start', 'The first'];
  const before =
    same === 0 ? start : `${next} ${plain(same)} things that they say and do are the same, then they differ`;
  const line = (name: string, event: PartingEvent | null) => {
    if (event === null) return `  ${name}: nothing more`;
    const address = `  ${name}: ${event.position}  `;
    const room = width === undefined ? undefined : Math.max(1, width - address.length);
    return `${address}${renderLine(event.words, { width: room })}`;
  };
  return [`${before} in ${field}:`, line(names[0], one), line(names[1], other)];
}

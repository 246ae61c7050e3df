import { HeapRestraint, openSession } from '@hansard/compose';
import type { DispatchLog } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope, JsonValue } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  createDispatchFacts,
  figuresOfDispatch,
  formatCost,
  formatDuration,
  formatTokens,
  LoggedUsage,
  openCallEvents,
  shortId,
  type UsageFigures,
  type UsageRow,
  UsageSums,
  withOpenCalls,
} from '@hansard/facts';
import { type FirstDifference, firstDifference, type PartingEvent, renderLine } from '@hansard/views';
import { interruptedPages } from '../tasks/filter-options.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, terminalWidth } from '../terminal/context.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { answerFromStore } from '../terminal/with-store.ts';

const notKnown = '–';

export const addCompare: AddCommand = (command, context) => {
  withCommonOptions(command)
    .addHelpText(
      'after',
      [
        '',
        'The first difference is the first text, thought, message, call, result or end that is not the same',
        'in both. Ids, times, figures and records of the harness are not compared.',
        '',
        'Examples:',
        '  hansard compare 4K7Q latest',
        '  hansard compare lab/old/latest lab/new/latest --json',
      ].join('\n'),
    )
    .action((word: string, other: string, options: CommonOptions) =>
      answerFromStore(context, options, async ({ store }) => {
        const [one, two] = [
          await readCompared(context, await openSession(store, word)),
          await readCompared(context, await openSession(store, other)),
        ];
        const difference = await firstDifference(eventsOf(context, one.log), eventsOf(context, two.log));
        return {
          rows: [documentOf(one, two, difference)],
          text: await inWords(context, one, two, difference),
        };
      }),
    );
};

/** A dispatch that was read once. */
interface Compared {
  readonly taskDir: string;
  readonly log: DispatchLog;
  readonly envelope: DispatchEnvelope;
  readonly events: number;
  readonly figures: Partial<UsageFigures>;
  readonly tools: ReadonlyMap<string, UsageRow>;
  readonly result: JsonValue;
}

async function readCompared(
  context: CliContext,
  { log, taskDir }: Pick<Compared, 'log' | 'taskDir'>,
): Promise<Compared> {
  const logged = new LoggedUsage(log.envelope);
  const facts = createDispatchFacts();
  let events = 0;
  const calls = new Set<string>();
  for await (const event of eventsOf(context, log)) {
    events += 1;
    logged.observe(event);
    facts.observe(event);
    if (event.type === 'agent:inference') calls.add(event.id);
  }
  const { envelope } = log;
  for (const event of openCallEvents(envelope, (id) => calls.has(id))) facts.observe(event);
  const tools = new UsageSums();
  for (const { tool, figures } of logged.parts) if (tool !== null) tools.add(tool, figures);
  // The envelope of a dispatch that runs has no figures yet.
  const {
    usage = facts.usage,
    models = facts.models,
    cost = facts.costUsd,
  } = knownOf(withOpenCalls(envelope));
  return {
    taskDir,
    log,
    envelope,
    events,
    figures: figuresOfDispatch({ ...envelope, usage, models, cost, openCalls: null }),
    tools: new Map(tools.rows('key').map((row) => [row.key, row])),
    result: facts.completion?.structuredResult ?? facts.completion?.result ?? null,
  };
}

/** The figures that an envelope has. */
function knownOf({ usage, models, cost }: DispatchEnvelope): Partial<DispatchEnvelope> {
  return {
    ...(usage !== null && { usage }),
    ...(models !== null && { models }),
    ...(cost !== null && { cost }),
  };
}

async function* eventsOf(context: CliContext, log: DispatchLog): AsyncGenerator<CapturedEvent> {
  using heap = new HeapRestraint();
  for await (const events of interruptedPages(context, log)) {
    heap.hold();
    yield* events;
  }
}

function documentOf(one: Compared, two: Compared, difference: FirstDifference | null): object {
  const side = ({ taskDir, envelope, events, figures, tools, result }: Compared) => ({
    taskDir,
    dispatchId: envelope.dispatchId,
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
  return {
    one: side(one),
    other: side(two),
    isResultEqual: isSameResult(one, two),
    firstDifference: difference,
  };
}

function isSameResult(one: Compared, two: Compared): boolean {
  return JSON.stringify(one.result) === JSON.stringify(two.result);
}

async function inWords(
  context: CliContext,
  one: Compared,
  two: Compared,
  difference: FirstDifference | null,
): Promise<string> {
  const width = terminalWidth(context);
  const head = ['', nameOf(one), nameOf(two), 'difference'];
  const table = await plainTable(head, tableRows(one, two), {
    width,
    cut: [1, 2].map((at) => ({ column: head[at] ?? '', least: 12 })),
  });
  return [
    table,
    '',
    ...resultInWords(one, two),
    '',
    ...differenceInWords(difference, [nameOf(one), nameOf(two)], width),
  ].join('\n');
}

function nameOf({ envelope: { role, dispatchId } }: Compared): string {
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

function tableRows(one: Compared, two: Compared): string[][] {
  const { envelope: first } = one;
  const { envelope: second } = two;
  const words = (name: string, left: string | null, right: string | null) =>
    left === null && right === null
      ? []
      : [[name, left ?? notKnown, right ?? notKnown, left === right ? '' : 'differs']];
  const numbers = (name: string, left: number | null, right: number | null, format: Format) =>
    left === null && right === null
      ? []
      : [[name, shown(left, format), shown(right, format), change(left, right, format)]];
  const tools = [...new Set([...one.tools.keys(), ...two.tools.keys()])].sort();
  return [
    ...words(
      'task',
      one.taskDir === two.taskDir ? null : one.taskDir,
      one.taskDir === two.taskDir ? null : two.taskDir,
    ),
    ...words('status', first.status, second.status),
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

function resultInWords(one: Compared, two: Compared): string[] {
  if (one.result === null && two.result === null) return ['No result is recorded.'];
  if (isSameResult(one, two)) return ['The results are the same.'];
  const text = ({ result }: Compared) =>
    result === null ? 'none is recorded' : typeof result === 'string' ? result : JSON.stringify(result);
  return [
    'The results differ:',
    ...[one, two].map((side) => `  ${nameOf(side)}: ${neutraliseControlsInLine(text(side))}`),
  ];
}

function differenceInWords(
  difference: FirstDifference | null,
  names: readonly [string, string],
  width: number | undefined,
): string[] {
  if (difference === null) return ['Both say and do the same.'];
  const { same, field, one, other } = difference;
  const before =
    same === 0 ? 'They differ from the start' : `The first ${plain(same)} are the same, then they differ`;
  const line = (name: string, event: PartingEvent | null) => {
    if (event === null) return `  ${name}: nothing more`;
    const address = `  ${name}: ${event.position}  `;
    const room = width === undefined ? undefined : Math.max(1, width - address.length);
    return `${address}${renderLine(event.words, { width: room })}`;
  };
  return [`${before} in ${field}:`, line(names[0], one), line(names[1], other)];
}

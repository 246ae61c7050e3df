import type { Harness } from '@hansard/compose';
import { onlySession, resolveScope, type Scope } from '@hansard/compose';
import { EventRequest } from '@hansard/compose/reading';
import type { ReplayPace } from '@hansard/dispatch';
import { formatDuration, formatSpending } from '@hansard/facts';
import { botView } from '@hansard/views';
import { InvalidArgumentError, Option } from 'commander';
import { withFilterOptions, withSessionFilter } from '../../tasks/filter-options.ts';
import { readableSessions } from '../../tasks/unreadable.ts';
import type { Answer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { type AddCommand, withCommonOptions, withExamples } from '../../terminal/command.ts';
import { noScreen } from '../../terminal/command-context.ts';
import { type CliContext, note } from '../../terminal/context.ts';
import { parseCount } from '../../terminal/parse-count.ts';
import { parseDuration } from '../../terminal/parse-duration.ts';
import { answerFromStore, withStore } from '../../terminal/with-store.ts';
import { rawAnswer, rawAnswerOfSeveral } from './show-raw.ts';
import { rowsAnswer } from './show-rows.ts';
import { damagedAccess, isLive, nothingTaken, type Shown, type ShowOptions } from './shown.ts';

export const addShow: AddCommand = (command, context) => {
  withExamples(
    withSessionFilter(
      withFilterOptions(withCommonOptions(command)),
      'print only sessions of this bot, and end with its sums',
    )
      .option(
        '-i, --interactive',
        'read on the whole screen: switch between agents and workers, search, filter, follow (h lists the keys)',
      )
      .option(
        '--full',
        'print long inputs and results whole, records of the engine, branches that were left, and the head of a fork',
      )
      .option('--branch <event>', 'print one branch of the transcript, from its beginning to this event')
      .option('--raw', 'print the events, one on a line')
      .option(
        '-n, --lines <n>',
        'print the last n rows, or the first n from the event on',
        parseCount({ example: 20 }),
      )
      .option('-f, --follow', 'print also new events of any process, until Ctrl-C (implies --raw)')
      .option(
        '--speed <factor>',
        'replay as recorded (1), faster (4), slower (0.5) or without waiting (max); implies --raw',
        parseSpeed,
      )
      .option(
        '--max-gap <duration>',
        'shorten each pause of a replay to this, such as 500ms, 2s or 1m',
        parseDuration,
      )
      .addOption(
        new Option('--step', 'replay, and wait for Enter before each event').conflicts(['speed', 'maxGap']),
      )
      .option(
        '--damaged',
        'read the whole events of a damaged session and omit the others; positions then count whole events only',
      ),
    'show chat/cafe',
    'show 4K7Q 120 -n 5',
    'show research/route-models --tool Edit --text routes.ts',
    'show latest --branch 12',
    "show latest --raw --type 'agent:*' --json",
    'show latest -f',
    'show chat/cafe -i',
    'show latest -i -f --agent Jill',
    'show chat/cafe 18 --speed 4 --max-gap 2s',
  ).action(async (word: string, event: string | undefined, options: ShowOptions) => {
    assertTogether(options);
    const asked = { word, event, options };
    if (options.interactive === true) {
      const problem = noScreen(context);
      if (problem === null) {
        const { readInTerminal } = await import('./reader/read-in-terminal.ts');
        return withStore(context, options, (harness) => readInTerminal(context, harness, asked));
      }
      note(context, `hansard: ${problem}, so this is printed as without --interactive.`);
    }
    return answerFromStore(context, options, (harness) => show(context, harness, asked));
  });
};

interface Asked {
  readonly word: string;
  readonly event: string | undefined;
  readonly options: ShowOptions;
}

async function show(
  context: CliContext,
  { store }: Harness,
  { word, event, options }: Asked,
): Promise<Answer> {
  const request = await EventRequest.parse(context, options);
  const scope = await resolveScope(store, word);
  const { taskDir } = scope;
  const isOfOne = event !== undefined || options.branch !== undefined || isLive(options);
  const { envelopes, failure } =
    scope.dispatchId !== null || isOfOne
      ? { envelopes: null, failure: null }
      : chosen(readableSessions(scope), options, scope);
  const access = damagedAccess(options);
  if (envelopes === null || envelopes.length === 1) {
    const dispatchId = envelopes?.[0]?.dispatchId ?? onlySession(scope, word).dispatchId;
    const log = await store.openDispatch(taskDir, dispatchId, access);
    const one = { store, taskDir, envelopes: [log.envelope], request, options };
    assertTaken(one);
    const answer =
      options.raw === true || isLive(options)
        ? await rawAnswer(context, one, log, event)
        : await rowsAnswer(context, one, event);
    return withSums({ ...answer, failure }, one);
  }
  const several = { store, taskDir, envelopes, request, options };
  const answer =
    options.raw === true
      ? await rawAnswerOfSeveral(context, several)
      : await rowsAnswer(context, several, undefined);
  return withSums({ ...answer, failure }, several);
}

type Readable = ReturnType<typeof readableSessions>;

/** The sessions whose bot and role were asked for. @throws CliError that names the others if there are none */
function chosen({ envelopes, failure }: Readable, { bot, role }: ShowOptions, { taskDir }: Scope): Readable {
  const taken = envelopes.filter(
    (one) => (bot ?? one.botId) === one.botId && (role ?? one.role) === one.role,
  );
  if (taken.length > 0) return { envelopes: taken, failure };
  throw nothingTaken(envelopes, taskDir, { bot, role });
}

function assertTaken({ envelopes, request, options, taskDir }: Shown): void {
  if (!envelopes.every((envelope) => request.takes(envelope)))
    throw nothingTaken(envelopes, taskDir, options);
}

/** Ends with the sums of the bot that was asked for. */
function withSums(answer: Answer, { envelopes, options: { bot } }: Shown): Answer {
  if (bot === undefined) return answer;
  const { figures } = botView(envelopes, bot);
  const spent = formatSpending(figures);
  const words = [
    `${bot}: ${envelopes.length} ${envelopes.length === 1 ? 'session' : 'sessions'}`,
    ...(figures.durationMs === null ? [] : [formatDuration(figures.durationMs)]),
    ...(spent === null ? [] : [spent]),
  ];
  return { ...answer, notesAfter: () => [...notesOf(answer), words.join(', ')] };
}

function notesOf({ notesAfter = [] }: Answer): readonly string[] {
  return typeof notesAfter === 'function' ? notesAfter() : notesAfter;
}

/** @throws CliError for options that exclude each other */
function assertTogether({
  follow,
  full,
  raw,
  lines,
  speed,
  step,
  maxGap,
  branch,
  ...options
}: ShowOptions): void {
  const isReplay = speed !== undefined || step === true || maxGap !== undefined;
  const isPrinted = isReplay || [full, raw, lines, branch, options.json].some((one) => one !== undefined);
  const problem =
    options.interactive === true && isPrinted
      ? '--interactive reads rows on the screen, so it can not be combined with options about what is printed.'
      : follow === true && isReplay
        ? '--follow prints new events as they come, so it can not be combined with a replay.'
        : lines !== undefined && isReplay
          ? 'A replay continues to the end, so it can not be combined with --lines.'
          : full === true && (raw === true || isLive({ follow, speed, step, maxGap, ...options }))
            ? '--full is about rows, so it can not be combined with events (--raw).'
            : branch !== undefined && (isReplay || follow === true)
              ? '--branch prints a branch as it is recorded, so it can not be combined with a replay or --follow.'
              : null;
  if (problem !== null) throw new CliError(exitCode.usage, problem, '`hansard help show` has examples.');
}

function parseSpeed(text: string): ReplayPace {
  if (text === 'max') return 'fast';
  const factor = /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (factor > 0) return factor;
  throw new InvalidArgumentError('Give a factor above 0, such as 4 or 0.5, or max.');
}

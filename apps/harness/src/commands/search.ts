import { resolveScope, toTaskName } from '@hansard/compose';
import {
  EventRequest,
  type RequestedEvents,
  type SessionHits,
  SessionsFound,
} from '@hansard/compose/reading';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { formatCount, formatTime, shortId, timeNotRecorded } from '@hansard/facts';
import {
  EventWords,
  foldWord,
  placedWords,
  type SearchHit,
  stringsOf,
  unsearchableKeys,
} from '@hansard/provider';
import { type AgentNames, columnsOf, fitColumns, snippetOf } from '@hansard/views';
import { withFilterOptions, withSessionFilter } from '../tasks/filter-options.ts';
import { incomplete } from '../tasks/unreadable.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, letInterrupt, note, terminalWidth } from '../terminal/context.ts';
import { createPainter } from '../terminal/painter.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { createProgress } from '../terminal/progress.ts';
import { shownTime } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface SearchCommandOptions extends CommonOptions, RequestedEvents {
  readonly limit: number;
  readonly records?: boolean;
}

const usualLimit = 50;
/** Columns of a line that is not written to a terminal. */
const usualWidth = 160;
const leastSnippet = 30;

export const addSearch: AddCommand = (command, context) => {
  withSessionFilter(withFilterOptions(withCommonOptions(command)))
    .option(
      '--limit <n>',
      `print at most N hits (default: ${usualLimit})`,
      parseCount({ from: 1, example: usualLimit }),
      usualLimit,
    )
    .option('--records', 'also print hits in records of the harness and in names of models')
    .addHelpText(
      'after',
      [
        '',
        'An event is found if its texts contain every word of the text; letters and digits make a word, case and',
        'accents do not count. Text without spaces, such as Chinese or Thai, is found by any part of it. Each hit begins with its position, which other commands take as an event. A store without',
        'an index is read, the dispatch that began last first.',
        '',
        'Examples:',
        "  hansard search 'route table'",
        '  hansard search walrus research/route-models',
        '  hansard search ENOENT latest --limit 5 --json',
        '',
        'Records of the harness and names of models are searched with --records or a filter such as --type.',
        'The exit code is 1 if nothing was found.',
      ].join('\n'),
    )
    .action((text: string, word: string | undefined, options: SearchCommandOptions) =>
      answerFromStore(context, options, async ({ store }) => {
        const words = new EventWords(text).words;
        if (words.length === 0) throw noWord(text);
        const scope = word === undefined ? null : await resolveScope(store, word);
        const request = await EventRequest.parse(context, options);
        const { limit, records: withRecords = false } = options;
        const place = word === undefined ? '' : ` of ${word}`;
        const progress = createProgress(context, `searching${place}: dispatches`);
        const indexing = createProgress(context, 'adding events to the index');
        const search = new SessionsFound(store, {
          ...{ text, scope, request, limit, withRecords, signal: context.readSignal },
          onSession: async (searched) => {
            await letInterrupt(context);
            progress.update(searched);
          },
          onIndexed: (events) => indexing.update(events),
        });
        const found = hitsOf(search, () => [progress, indexing].forEach((one) => void one.end()));
        const nothing = `No event${place} contains ${JSON.stringify(text)}${request.isOpen ? '' : ` and passes ${request.inWords}`}.`;
        const closing = () => {
          for (const line of request.notes('events')) note(context, line);
          close(context, search, limit, nothing);
        };
        return {
          rows: rowsOf(found, closing),
          text: new HitLines(context, words).of(found, closing),
          isPainted: true,
        };
      }),
    );
};

/** The hits, without the progress line while they are printed. */
async function* hitsOf(search: SessionsFound, endProgress: () => void): AsyncGenerator<SessionHits> {
  try {
    for await (const one of search.hits()) {
      endProgress();
      yield one;
    }
  } finally {
    endProgress();
  }
}

/** Says what people must know of the hits. @throws CliError if nothing was found, or not everything was searched */
function close(
  context: CliContext,
  { count, inRecords, errors }: SessionsFound,
  limit: number,
  nothing: string,
): void {
  if (count >= limit)
    note(context, `hansard: the first ${limit} hits; there can be more: --limit ${limit * 10} prints them.`);
  if (inRecords > 0)
    note(
      context,
      `hansard: ${inRecords} more ${inRecords === 1 ? 'hit' : 'hits'} in records of the harness and names of models: --records prints them.`,
    );
  const unsearched = incomplete(
    `${formatCount(errors.length, 'session')} could not be searched; the others were.`,
    errors.map((error) => ({ error })),
  );
  if (unsearched !== null) throw unsearched;
  if (count === 0)
    throw new CliError(
      exitCode.failed,
      nothing,
      'Whole words are found, in any order: try fewer words, or other forms of them.',
    );
}

async function* rowsOf(found: AsyncIterable<SessionHits>, closing: () => void): AsyncGenerator<object> {
  for await (const { hits, envelope } of found)
    for (const { taskDir, dispatchId, position, event } of hits)
      yield { taskDir, dispatchId, title: envelope?.title ?? null, position, event };
  closing();
}

/** A time. */
const leastAbout = 8;

/** The lines of hits: below the head of each session, a line for each. */
class HitLines {
  readonly #context: CliContext;
  readonly #words: readonly string[];

  constructor(context: CliContext, words: readonly string[]) {
    this.#context = context;
    this.#words = words;
  }

  async *of(found: AsyncIterable<SessionHits>, closing: () => void): AsyncGenerator<string> {
    const paint = createPainter(this.#context);
    const width = terminalWidth(this.#context) ?? usualWidth;
    let isFirst = true;
    for await (const { taskDir, dispatchId, envelope, hits, names } of found) {
      const head = [toTaskName(taskDir), shortId(dispatchId), ...namesOf(this.#context, envelope)]
        .map(neutraliseControlsInLine)
        .join('  ');
      yield `${isFirst ? '' : '\n'}${paint('strong', fitColumns(head, width))}`;
      isFirst = false;
      const columns = Math.max(...hits.map(({ position }) => String(position).length));
      for (const hit of hits) {
        const about = fitColumns(
          neutraliseControlsInLine(aboutOf(this.#context, hit.event, names)),
          Math.max(leastAbout, width - columns - 6 - leastSnippet),
        );
        yield this.#line(hit, about, columns, width, paint);
      }
    }
    closing();
  }

  #line(
    { position, event }: SearchHit,
    about: string,
    columns: number,
    width: number,
    paint: ReturnType<typeof createPainter>,
  ): string {
    const place = `  ${String(position).padStart(columns)}  `;
    const room = Math.max(leastSnippet, width - columnsOf(place) - columnsOf(about) - 2);
    const snippet = snippetOf(stringsOf(event, unsearchableKeys), {
      words: this.#words,
      fold: foldWord,
      split: placedWords,
      width: room,
    })
      .map(({ text, isWord }) => (isWord ? paint('notice', text) : text))
      .join('');
    return `${paint('position', place)}${paint('word', about)}  ${snippet}`;
  }
}

function noWord(text: string): CliError {
  return new CliError(
    exitCode.usage,
    `${JSON.stringify(text)} has no word.`,
    'Letters and digits make a word, such as hansard search "route table".',
  );
}

function aboutOf(
  context: CliContext,
  { timestamp, type, agentId }: CapturedEvent,
  names: AgentNames,
): string {
  const name = agentId === undefined ? '' : names.of(agentId);
  const shown = agentId === undefined || name !== agentId ? name : shortId(agentId);
  return [formatTime(shownTime(context, timestamp)), type, shown].filter(Boolean).join('  ');
}

function namesOf(context: CliContext, envelope: DispatchEnvelope | null): readonly string[] {
  if (envelope === null) return [];
  const { role, title, startedAt } = envelope;
  return [
    role,
    shownTime(context, startedAt)?.slice(0, 16).replace('T', ' ') ?? timeNotRecorded,
    ...(title === null ? [] : [JSON.stringify(title)]),
  ];
}

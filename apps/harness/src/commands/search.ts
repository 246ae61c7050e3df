import { partOfStore, resolveScope, toTaskName } from '@hansard/compose';
import { type DispatchHits, type DispatchStore, searchDispatches } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { formatTime, shortId } from '@hansard/facts';
import {
  EventWords,
  foldWord,
  placedWords,
  type SearchHit,
  type StoreError,
  stringsOf,
  unsearchableKeys,
} from '@hansard/provider';
import { AgentNames, columnsOf, fitColumns, isNoise, snippetOf } from '@hansard/views';
import {
  type FilterOptions,
  FilterRequest,
  interruptedPages,
  withFilterOptions,
  withSessionFilter,
} from '../tasks/filter-options.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, letInterrupt, note, terminalWidth } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';
import { createPainter } from '../terminal/painter.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { createProgress } from '../terminal/progress.ts';
import { shownTime } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface SearchCommandOptions extends CommonOptions, FilterOptions {
  readonly limit: number;
  readonly records?: boolean;
}

const usualLimit = 50;
/** Columns of a line that is not written to a terminal. */
const usualWidth = 160;
/** The number of hits that are filtered. */
const mostFiltered = 10_000;
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
        const filter = await FilterRequest.parse(context, options);
        const isAll = options.records === true || !filter.isOpen;
        const search = new Search(context, {
          text,
          words,
          limit: options.limit,
          scope: word,
          filter,
          store,
        });
        const limit = filter.isOpen ? options.limit : mostFiltered;
        const isWanted = isAll ? undefined : hitsInTalk(new EventWords(text));
        const found = searchDispatches(store, {
          query: text,
          limit,
          isWanted,
          ...partOfStore(scope),
          ...search.calls,
        });
        return search.answer(found);
      }),
    );
};

interface Asked {
  readonly text: string;
  readonly words: readonly string[];
  /** The maximum number of hits. */
  readonly limit: number;
  readonly filter: FilterRequest;
  readonly store: DispatchStore;
}

/** A time. */
const leastAbout = 8;
/** How many events of a dispatch are read for the names of agents. */
const eventsWithNames = 500;

/** One run of the command. */
class Search {
  readonly #context: CliContext;
  readonly #asked: Asked;
  readonly #place: string;
  readonly #errors: StoreError[] = [];
  /** Hits in records and names of models that are not printed. */
  #unwanted = 0;
  #count = 0;

  constructor(context: CliContext, { scope, ...asked }: Asked & { readonly scope: string | undefined }) {
    this.#context = context;
    this.#asked = asked;
    this.#place = scope === undefined ? '' : ` of ${scope}`;
    const progress = createProgress(context, `searching${this.#place}: dispatches`);
    const indexing = createProgress(context, 'adding events to the index');
    this.calls = {
      onDispatch: async (searched: number) => {
        await letInterrupt(context);
        progress.update(searched);
      },
      onUnreadable: (error: StoreError) => void this.#errors.push(error),
      onUnwanted: (count: number) => {
        this.#unwanted += count;
      },
      onIndexed: (events: number) => indexing.update(events),
    };
    this.#progress = { end: () => [progress, indexing].forEach((one) => void one.end()) };
  }

  readonly calls: {
    readonly onDispatch: (searched: number) => Promise<void>;
    readonly onUnreadable: (error: StoreError) => void;
    readonly onUnwanted: (count: number) => void;
    readonly onIndexed: (events: number) => void;
  };
  readonly #progress: { end(): void };

  answer(found: AsyncIterable<DispatchHits>): Answer {
    return { rows: this.#rows(found), text: this.#text(found), isPainted: true };
  }

  async *#rows(found: AsyncIterable<DispatchHits>): AsyncGenerator<object> {
    for await (const { hits, envelope } of this.#counted(found))
      for (const { taskDir, dispatchId, position, event } of hits)
        yield { taskDir, dispatchId, title: envelope?.title ?? null, position, event };
  }

  async *#text(found: AsyncIterable<DispatchHits>): AsyncGenerator<string> {
    const paint = createPainter(this.#context);
    const width = terminalWidth(this.#context) ?? usualWidth;
    let isFirst = true;
    for await (const { taskDir, dispatchId, envelope, hits } of this.#counted(found)) {
      const names = await this.#agentNames({ taskDir, dispatchId, hits });
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
      words: this.#asked.words,
      fold: foldWord,
      split: placedWords,
      width: room,
    })
      .map(({ text, isWord }) => (isWord ? paint('notice', text) : text))
      .join('');
    return `${paint('position', place)}${paint('word', about)}  ${snippet}`;
  }

  /** The names that the first events of a dispatch give its agents: most agents get theirs there. */
  async #agentNames({
    taskDir,
    dispatchId,
    hits,
  }: Pick<DispatchHits, 'taskDir' | 'dispatchId' | 'hits'>): Promise<AgentNames> {
    const names = new AgentNames();
    if (hits.every(({ event }) => event.agentId === undefined)) return names;
    const log = await this.#asked.store.openDispatch({ taskDir, dispatchId });
    for await (const { events } of log.pages({ limit: eventsWithNames })) {
      for (const event of events) names.learn(event);
      break;
    }
    return names;
  }

  async #filtered({ taskDir, dispatchId, envelope, hits }: DispatchHits): Promise<readonly SearchHit[]> {
    const { filter, store } = this.#asked;
    if (filter.isOpen) return hits;
    if (envelope === null || !filter.takes(envelope)) return [];
    const context = this.#context;
    const chosen = await filter.forOneOf({
      envelope,
      pages: async function* () {
        yield* interruptedPages(context, await store.openDispatch({ taskDir, dispatchId }));
      },
    });
    return hits.filter(({ event }) => chosen.passes(event));
  }

  /** Passes the hits on, and ends with what people must know of them. @throws CliError if nothing was found, or not everything was searched */
  async *#counted(found: AsyncIterable<DispatchHits>): AsyncGenerator<DispatchHits> {
    try {
      for await (const one of found) {
        this.#progress.end();
        const hits = (await this.#filtered(one)).slice(0, this.#asked.limit - this.#count);
        this.#count += hits.length;
        if (hits.length > 0) yield { ...one, hits };
        if (this.#count === this.#asked.limit) break;
      }
    } finally {
      this.#progress.end();
    }
    const { text, limit, filter } = this.#asked;
    if (this.#count >= limit)
      note(
        this.#context,
        `hansard: the first ${limit} hits; there can be more: --limit ${limit * 10} prints them.`,
      );
    if (this.#unwanted > 0)
      note(
        this.#context,
        `hansard: ${this.#unwanted} more ${this.#unwanted === 1 ? 'hit' : 'hits'} in records of the harness and names of models: --records prints them.`,
      );
    const [first] = this.#errors;
    if (first !== undefined) throw unsearched(this.#errors, first);
    if (this.#count === 0)
      throw new CliError(
        exitCode.failed,
        `No event${this.#place} contains ${JSON.stringify(text)}${filter.isOpen ? '' : ` and passes ${filter.inWords}`}.`,
        'Whole words are found, in any order: try fewer words, or other forms of them.',
      );
  }
}

const modelKeys = new Set([...unsearchableKeys, 'model', 'languageModel']);

/** Whether a hit is in what people wrote, agents said or tools did: not only in a record of the harness or the name of a model. */
function hitsInTalk(words: EventWords): (event: CapturedEvent) => boolean {
  return (event) =>
    event.type !== 'agent:inference' &&
    event.type !== 'session:init' &&
    !isNoise(event) &&
    words.areIn(event, modelKeys);
}

function noWord(text: string): CliError {
  return new CliError(
    exitCode.usage,
    `${JSON.stringify(text)} has no word.`,
    'Letters and digits make a word, such as hansard search "route table".',
  );
}

function unsearched(errors: readonly StoreError[], first: StoreError): CliError {
  const explained = errors.map(explainError);
  const worst = explained.find((one) => one.exitCode === exitCode.damaged) ?? explainError(first);
  const count = `${errors.length} ${errors.length === 1 ? 'session' : 'sessions'} could not be searched; the others were.`;
  return new CliError(
    worst.exitCode,
    [count, ...explained.map(({ message }) => message)].join('\n  '),
    worst.advice,
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
    shownTime(context, startedAt).slice(0, 16).replace('T', ' '),
    ...(title === null ? [] : [JSON.stringify(title)]),
  ];
}

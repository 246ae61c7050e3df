import { harnessErrors, toTaskName } from '@hansard/compose';
import { EventRequest, eventNamed, pagedLog } from '@hansard/compose/reading';
import type { DispatchStore } from '@hansard/dispatch';
import { messageOf } from '@hansard/events';
import { formatDay } from '@hansard/facts';
import { EventFilter, parseTextPattern, type Row, renderRow } from '@hansard/views';
import { Command, CommanderError } from 'commander';
import { withFilterOptions } from '../../../tasks/filter-options.ts';
import type { CliContext } from '../../../terminal/context.ts';
import { createPainter } from '../../../terminal/painter.ts';
import { atShownTime } from '../../../terminal/shown-time.ts';
import type { ShowOptions } from '../shown.ts';
import { ReadLog, type RowScan } from './read-log.ts';
import {
  detailLines,
  paneSizes,
  type ReaderPicture,
  readerFrame,
  type SideEntry,
  type SideSession,
  sideEntries,
} from './reader-frame.ts';
import { RowWindow } from './row-window.ts';
import type { PressedKey, ScreenFrame } from './terminal-screen.ts';

/** What a line at the bottom asks for: a text to search forwards or backwards, a filter, an event. */
export type PromptKind = '/' | '?' | '&' | ':';
type Pane = 'list' | 'side' | 'detail';

export interface ReaderOptions {
  readonly context: CliContext;
  readonly store: DispatchStore;
  readonly options: ShowOptions;
  readonly request: EventRequest;
  /** The sessions at the side, read anew. */
  readonly sessions: () => Promise<SideSession[]>;
  /** Asks for a new picture. */
  readonly onChange: () => void;
  readonly onQuit: () => void;
  /** Gives the terminal back until the shell continues the process. */
  readonly onStop: () => void;
}

/** The log that is shown, and its place there. */
interface Shown {
  readonly log: ReadLog;
  readonly window: RowWindow;
}

/** What a person reads in the terminal, moved by keys. `picture` draws it. */
export class TerminalReader {
  readonly #given: ReaderOptions;
  readonly #paint: ReturnType<typeof createPainter>;
  #shown: Shown;
  #request: EventRequest;
  #agentId: string | null = null;
  #pane: Pane = 'list';
  #sessions: readonly SideSession[] = [];
  #entries: readonly SideEntry[] = [];
  #entry = 0;
  #prompt: { readonly kind: PromptKind; text: string } | null = null;
  #searchFor = '';
  #searchDirection: 1 | -1 = 1;
  #detail: {
    lines: readonly string[];
    position: number;
    width: number;
    top: number;
    isWhole: boolean;
  } | null = null;
  #isHelp = false;
  #count = '';
  #message = '';
  #size = { columns: 80, lines: 24 };
  /** The lines of the rows that were drawn, for a width. */
  #drawn = new WeakMap<Row, { readonly width: number; readonly lines: readonly string[] }>();
  #waiting = new AbortController();
  readonly #turn = new Turn();
  /** The keys, one after the other. */
  #work: Promise<void> = Promise.resolve();

  constructor(log: ReadLog, given: ReaderOptions) {
    this.#given = given;
    this.#paint = createPainter(given.context);
    this.#request = given.request;
    this.#shown = { log, window: this.#windowOf(log) };
  }

  /** Begins with the first row, the row of an event, or the end. */
  begin(
    at: number | 'end' | null,
    size: { readonly columns: number; readonly lines: number },
  ): Promise<void> {
    this.#size = { ...size };
    return this.#inTurn(() => this.#begin(at));
  }

  async #begin(at: number | 'end' | null): Promise<void> {
    const { window, log } = this.#shown;
    const sizes = paneSizes(this.#size, 'list', this.#detail);
    window.height = sizes.list.height;
    if (!this.#request.isOpen) await this.#filter();
    if (at === 'end') {
      await window.toEnd();
      window.isFollowing = true;
    } else if (at === null) await window.toStart();
    else await this.#showAt(at);
    await this.#readSide();
    void log.follow();
  }

  /** After a change of the store. */
  async refreshSessions(): Promise<void> {
    await this.#readSide();
    this.#given.onChange();
  }

  close(): void {
    this.#waiting.abort();
    this.#shown.log.close();
  }

  /** Resolves when the key was answered, after those before it. */
  async pressed(key: PressedKey): Promise<void> {
    if (this.#prompt === null && (key.name === 'q' || key.name === 'Q')) return this.#given.onQuit();
    if (key.name === 'ctrl-z') return this.#given.onStop();
    if (key.name === 'escape' || key.name === 'ctrl-c') this.#waiting.abort();
    this.#work = this.#work.then(() => this.#inTurn(() => this.#pressed(key)));
    return this.#work;
  }

  async #pressed(key: PressedKey): Promise<void> {
    this.#waiting = new AbortController();
    this.#message = '';
    try {
      if (this.#prompt !== null) await this.#typed(key);
      else if (this.#isHelp) this.#isHelp = false;
      else await this.#key(key.name);
    } catch (error) {
      this.#message = inWords(error);
    }
    this.#given.onChange();
  }

  /** Keys and pictures take turns, because both move the window. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn.take();
    try {
      return await work();
    } finally {
      this.#turn.give();
    }
  }

  /** Waits for more of a scan. Pictures are drawn meanwhile. */
  async #scanned(scan: RowScan, signal: AbortSignal): Promise<void> {
    this.#turn.give();
    this.#given.onChange();
    await scan.more(signal);
    await this.#turn.take();
  }

  picture(size: { readonly columns: number; readonly lines: number }): Promise<ScreenFrame> {
    return this.#inTurn(() => {
      this.#size = { ...size };
      return this.#picture();
    });
  }

  async #picture(): Promise<ScreenFrame> {
    const { log, window } = this.#shown;
    const sizes = paneSizes(this.#size, this.#pane, this.#detail);
    const height = Math.max(1, sizes.list.height);
    const isSmaller = height < window.height;
    window.height = height;
    if (isSmaller && sizes.list.height > 0 && !window.isFollowing) await window.show(window.current);
    const rows = sizes.list.height > 0 ? await window.rows() : [];
    const current = await window.currentRow();
    this.#entries = await sideEntries(this.#sessions, log);
    if (this.#detail !== null && current !== null)
      await this.#readDetail(current.position, sizes.detail.width);
    const { dispatchId, taskDir } = log.ref;
    const { title, role, status } = log.log.envelope;
    const picture: ReaderPicture = {
      size: this.#size,
      sizes,
      pane: this.#pane,
      title: `${title ?? role}  ${status}  ${toTaskName(taskDir)}/${dispatchId}`,
      rows,
      current: current?.position ?? null,
      empty: this.#emptyText(),
      side: this.#entries,
      sideTitle:
        log.agents === null || log.agents.isDone ? 'Sessions, agents' : `Agents${this.#percent(log.agents)}`,
      entry: Math.min(this.#entry, this.#entries.length - 1),
      shownSession: dispatchId,
      shownAgent: this.#agentId,
      detail: this.#detail,
      isHelp: this.#isHelp,
      notice: this.#message || log.filtered?.problem || log.searched?.problem || log.problem || '',
      prompt: this.#prompt,
      status: this.#statusPieces(current),
    };
    return readerFrame(picture, this.#paint);
  }

  #windowOf(log: ReadLog): RowWindow {
    return new RowWindow(log, (row) => this.#linesOf(row));
  }

  #linesOf(row: Row): readonly string[] {
    const { width } = paneSizes(this.#size, 'list', null).list;
    const drawn = this.#drawn.get(row);
    if (drawn?.width === width) return drawn.lines;
    const { context } = this.#given;
    const shown = atShownTime(context, row);
    const text = renderRow(shown, { width: width - 2, hint: 'Enter shows all', paint: this.#paint });
    const lines = text.split('\n');
    this.#drawn.set(row, { width, lines });
    return lines;
  }

  #emptyText(): string {
    const { filtered, count } = this.#shown.log;
    if (count === 0) return '(no events)';
    return filtered === null ? '' : filtered.isDone ? '(no event passes)' : 'searching …';
  }

  #statusPieces(current: Row | null): string[] {
    const { log, window } = this.#shown;
    const { count, filtered, searched } = log;
    const at = current === null ? '' : `${current.position} of ${count} events`;
    const words = this.#request.inWords;
    return [
      ...(window.isFollowing ? ['following'] : []),
      ...(at === '' ? [] : [at]),
      ...(current === null || current.word === 'unreadable'
        ? []
        : [formatDay(atShownTime(this.#given.context, current).timestamp)]),
      ...(filtered === null
        ? []
        : [`${words === '' ? '' : `${words}, `}${filtered.positions.length} rows${this.#percent(filtered)}`]),
      ...(searched === null
        ? []
        : [`/${this.#searchFor}: ${this.#hits(searched)}${this.#percent(searched)}`]),
    ];
  }

  /** How much of the log a scan has read, until it has read all. */
  #percent({ isDone, scanned }: RowScan): string {
    const part = Math.floor((100 * scanned) / Math.max(1, this.#shown.log.count));
    return isDone ? '' : `, ${Math.min(99, part)} % read`;
  }

  #hits({ positions }: RowScan): string {
    const at = positions.indexOf(this.#shown.window.current);
    return at === -1 ? `${positions.length} found` : `${at + 1} of ${positions.length}`;
  }

  async #readSide(): Promise<void> {
    this.#sessions = await this.#given.sessions().catch(() => this.#sessions);
    this.#entries = await sideEntries(this.#sessions, this.#shown.log);
  }

  async #readDetail(position: number, width: number): Promise<void> {
    const detail = this.#detail;
    if (detail === null || (detail.position === position && detail.width === width)) return;
    const around = await this.#shown.log.detail(position).catch((error: unknown) => messageOf(error));
    detail.lines = detailLines(around, { width, context: this.#given.context, paint: this.#paint });
    if (detail.position !== position) detail.top = 0;
    detail.position = position;
    detail.width = width;
  }

  async #typed({ name, text }: PressedKey): Promise<void> {
    const prompt = this.#prompt;
    if (prompt === null) return;
    if (name === 'escape' || name === 'ctrl-c') this.#prompt = null;
    else if (name === 'ctrl-u') prompt.text = '';
    else if (name === 'backspace' && prompt.text === '') this.#prompt = null;
    else if (name === 'backspace') prompt.text = [...prompt.text].slice(0, -1).join('');
    else if (name === 'return') {
      this.#prompt = null;
      await this.#answer(prompt.kind, prompt.text.trim());
    } else prompt.text += text;
  }

  async #answer(kind: PromptKind, text: string): Promise<void> {
    if (kind === '&') return this.#filterBy(text);
    if (kind === ':') {
      if (text === '') return;
      const { log } = this.#shown.log;
      const paged = pagedLog(log, this.#waiting.signal);
      const { position } = await eventNamed(paged, text, this.#given.context);
      return this.#showAt(position);
    }
    this.#searchDirection = kind === '/' ? 1 : -1;
    if (text !== '') await this.#search(text);
    await this.#next(this.#searchDirection);
  }

  async #search(text: string): Promise<void> {
    const parsed = await parseTextPattern(text);
    if ('problem' in parsed) throw new Error(`${text} can't be searched: ${parsed.problem}.`);
    const { log } = this.#shown;
    log.searched?.close();
    this.#searchFor = text;
    log.searched = log.scan(new EventFilter({ text: parsed.pattern }));
  }

  /** Shows the next row that was found, and waits for it while the log is read. */
  async #next(direction: 1 | -1): Promise<void> {
    const { log, window } = this.#shown;
    const { searched, filtered } = log;
    if (searched === null) throw new Error('Nothing is searched: / searches for a text.');
    const { signal } = this.#waiting;
    const isShown = (position: number) => filtered === null || filtered.has(position);
    for (;;) {
      let found = searched.next(window.current, direction);
      while (found !== null && !isShown(found)) found = searched.next(found, direction);
      // Backwards, the nearest one is known when everything before the current row was read.
      const isSure = direction === 1 || searched.isDone || searched.scanned > window.current;
      if (found !== null && isSure) {
        this.#message = '';
        return this.#showAt(found);
      }
      if (searched.isDone || signal.aborted) break;
      this.#message = `searching ${this.#searchFor} …`;
      await this.#scanned(searched, signal);
    }
    this.#message = signal.aborted
      ? 'The search was stopped.'
      : `No ${direction === 1 ? 'later' : 'earlier'} row has ${this.#searchFor}.`;
  }

  async #filterBy(text: string): Promise<void> {
    const { context } = this.#given;
    const words = wordsOf(text);
    const isText = words[0] !== undefined && !words[0].startsWith('-');
    const request = await EventRequest.parse(context, isText ? { text } : parseFilter(words, text));
    const { log } = this.#shown.log;
    // A name that the session does not have leaves the rows as they are.
    await request.forOnly(pagedLog(log, this.#waiting.signal));
    this.#request = request;
    this.#agentId = null;
    await this.#filter();
  }

  /** Shows the rows that pass the filter and are of the agent. */
  async #filter(): Promise<void> {
    const { log, window } = this.#shown;
    const { current } = window;
    log.filtered?.close();
    log.filtered = null;
    if (!this.#request.isOpen || this.#agentId !== null) {
      const filter =
        this.#agentId === null
          ? await this.#requested(log)
          : this.#request.forAgent(log.log.envelope, this.#agentId);
      log.filtered = log.scan(filter);
    }
    log.order.hits = log.filtered?.positions ?? null;
    const { signal } = this.#waiting;
    // Until the rows up to the current one are known, or the first ones where there is none.
    for (
      let scan = log.filtered;
      scan !== null && !scan.isDone && scan.scanned <= current && !signal.aborted;
    )
      await this.#scanned(scan, signal);
    await window.show(current);
  }

  /** The filter of the session that is shown. An agent that only others of the task have is named in the message. */
  async #requested(log: ReadLog): Promise<EventFilter> {
    const paged = pagedLog(log.log, this.#waiting.signal);
    try {
      return await this.#request.forOnly(paged);
    } catch (error) {
      if (!harnessErrors.is(error, 'HARNESS_NOT_FOUND')) throw error;
      this.#message = inWords(error);
      return this.#request.forOneOf(paged);
    }
  }

  async #key(name: string): Promise<void> {
    const number = this.#count;
    if (/^[0-9]$/.test(name)) {
      this.#count += name;
      this.#message = this.#count;
      return;
    }
    this.#count = '';
    switch (name) {
      case 'tab':
      case 'shift-tab':
        return this.#nextPane(name === 'tab' ? 1 : -1);
      case 'h':
      case 'H':
      case 'f1':
        this.#isHelp = true;
        return;
      case '/':
      case '?':
      case '&':
      case ':':
        this.#prompt = { kind: name, text: '' };
        return;
      case 'n':
        return this.#next(this.#searchDirection);
      case 'N':
        return this.#next(this.#searchDirection === 1 ? -1 : 1);
      case 'F':
        return this.#followEnd();
      case 'r':
      case 'ctrl-l':
        this.#shown.log.forget();
        this.#drawn = new WeakMap();
        return;
      case 'escape':
      case 'ctrl-c':
        return this.#cancel(name);
      default:
        if (this.#pane === 'side') await this.#sideKey(name);
        else if (this.#pane === 'detail') this.#detailKey(name);
        else await this.#listKey(name, number);
    }
  }

  /** Shows the row of an event, whatever fold it is in. */
  #showAt(position: number): Promise<void> {
    const { log, window } = this.#shown;
    log.openAt(position);
    return window.show(position);
  }

  /** Opens the fold that the current row stands for, or closes the fold that has the row. */
  async #openOrClose(): Promise<void> {
    const { log, window } = this.#shown;
    const row = await window.currentRow();
    if (row === null) return;
    if (row.fold !== undefined) return log.openAt(row.position);
    const closed = log.closeAt(row.position);
    if (closed !== null) return window.show(closed);
    this.#message = 'No folded rows are here.';
  }

  #nextPane(direction: 1 | -1): void {
    const panes: Pane[] = this.#detail === null ? ['list', 'side'] : ['list', 'detail', 'side'];
    const at = panes.indexOf(this.#pane) + direction + panes.length;
    this.#pane = panes[at % panes.length] ?? 'list';
    if (this.#pane === 'side') void this.#shown.log.findAgents();
  }

  async #followEnd(): Promise<void> {
    this.#pane = 'list';
    await this.#shown.window.toEnd();
    this.#shown.window.isFollowing = true;
  }

  /** Leaves what is open: the event, the side, the following. */
  #cancel(name: string): void {
    const { window } = this.#shown;
    if (this.#detail !== null) this.#detail = null;
    else if (this.#pane === 'list' && window.isFollowing) window.isFollowing = false;
    else if (this.#pane === 'list' && name === 'ctrl-c') this.#given.onQuit();
    this.#pane = 'list';
  }

  async #listKey(name: string, number: string): Promise<void> {
    const { window } = this.#shown;
    const page = Math.max(1, window.height - 1);
    const half = Math.max(1, Math.floor(window.height / 2));
    const times = Math.max(1, Math.min(Number(number || 1), 10_000));
    const move = async (direction: 1 | -1) => {
      for (let left = times; left > 0; left -= 1) await window.move(direction);
    };
    switch (name) {
      case 'j':
      case 'e':
      case 'down':
        return move(1);
      case 'k':
      case 'y':
      case 'up':
        return move(-1);
      case ' ':
      case 'f':
      case 'ctrl-f':
      case 'pagedown':
        return window.page(page);
      case 'b':
      case 'ctrl-b':
      case 'pageup':
        return window.page(-page);
      case 'd':
      case 'ctrl-d':
        return window.page(half);
      case 'u':
      case 'ctrl-u':
        return window.page(-half);
      case 'g':
      case '<':
      case 'home':
        return number === '' ? window.toStart() : this.#showAt(Number(number));
      case 'G':
      case '>':
      case 'end':
        window.isFollowing = false;
        return number === '' ? window.toEnd() : this.#showAt(Number(number));
      case 'o':
        return this.#openOrClose();
      case 'return':
      case 'right':
        if ((await window.currentRow())?.fold !== undefined) return this.#openOrClose();
        this.#detail = { lines: [], position: -1, width: 0, top: 0, isWhole: false };
        this.#pane = 'detail';
        return;
      case 'left':
        this.#pane = 'side';
        void this.#shown.log.findAgents();
        return;
      default:
        this.#message = 'h lists the keys.';
    }
  }

  #detailKey(name: string): void {
    const detail = this.#detail;
    if (detail === null) return;
    const { height } = paneSizes(this.#size, this.#pane, detail).detail;
    const last = Math.max(0, detail.lines.length - height);
    const steps: Readonly<Record<string, number>> = {
      j: 1,
      down: 1,
      k: -1,
      up: -1,
      ' ': height - 1,
      f: height - 1,
      pagedown: height - 1,
      b: 1 - height,
      pageup: 1 - height,
      g: Number.NEGATIVE_INFINITY,
      home: Number.NEGATIVE_INFINITY,
      G: Number.POSITIVE_INFINITY,
      end: Number.POSITIVE_INFINITY,
    };
    if (name === 'return') detail.isWhole = !detail.isWhole;
    else if (name === 'left') this.#cancel(name);
    else detail.top = Math.max(0, Math.min(last, detail.top + (steps[name] ?? 0)));
  }

  async #sideKey(name: string): Promise<void> {
    const last = this.#entries.length - 1;
    const steps: Readonly<Record<string, number>> = { j: 1, down: 1, k: -1, up: -1, ' ': 10, b: -10 };
    const to = { g: 0, home: 0, G: last, end: last }[name] ?? this.#entry + (steps[name] ?? 0);
    this.#entry = Math.max(0, Math.min(last, to));
    if (name === 'right') this.#pane = 'list';
    const entry = this.#entries[this.#entry];
    if (name !== 'return' || entry === undefined) return;
    this.#pane = 'list';
    if (entry.kind === 'agent') {
      this.#agentId = entry.agentId;
      return this.#filter();
    }
    const isOther = entry.dispatchId !== this.#shown.log.ref.dispatchId;
    this.#agentId = null;
    return isOther ? this.#open(entry.dispatchId) : this.#filter();
  }

  /** Shows another session of the task, from its beginning. */
  async #open(dispatchId: string): Promise<void> {
    const { store, options, onChange } = this.#given;
    const { taskDir } = this.#shown.log.ref;
    const isDamaged = options.damaged ?? false;
    const log = await ReadLog.open(store, { taskDir, dispatchId }, { isDamaged, onChange });
    this.#shown.log.close();
    this.#detail = null;
    this.#shown = { log, window: this.#windowOf(log) };
    await this.#filter();
    await this.#shown.window.toStart();
    this.#entries = await sideEntries(this.#sessions, log);
    this.#entry = Math.max(
      0,
      this.#entries.findIndex((entry) => entry.kind === 'session' && entry.dispatchId === dispatchId),
    );
    void log.follow();
  }
}

/** The right to move the window, which one work has at a time. */
class Turn {
  #last: Promise<void> = Promise.resolve();
  #give = () => {};

  async take(): Promise<void> {
    const before = this.#last;
    const mine = Promise.withResolvers<void>();
    this.#last = mine.promise;
    await before;
    this.#give = mine.resolve;
  }

  give(): void {
    this.#give();
  }
}

/** An error in the line below the rows: what is there instead helps at once. */
function inWords(error: unknown): string {
  return harnessErrors.is(error, 'HARNESS_NOT_FOUND') ? `${error.message} ${error.advice}` : messageOf(error);
}

/** The words of a line, of which quotes keep several together. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(quotedOrWord)].map(([, one, other, word]) => one ?? other ?? word ?? '');
}

const quotedOrWord = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** The options of `show` that select events. `text`: the line of the words. @throws Error for other words */
function parseFilter(words: readonly string[], text: string): ShowOptions {
  const open = [...text.matchAll(quotedOrWord)].find(([, , , word]) => /^["']/.test(word ?? ''));
  if (open !== undefined) throw new Error(`The quote before ${open[0].slice(1) || 'the end'} is not closed.`);
  const command = withFilterOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} })
    .allowExcessArguments(false);
  try {
    return command.parse([...words], { from: 'user' }).opts<ShowOptions>();
  } catch (error) {
    if (error instanceof CommanderError)
      throw new Error(error.message.replace(/^error: /, ''), { cause: error });
    throw error;
  }
}

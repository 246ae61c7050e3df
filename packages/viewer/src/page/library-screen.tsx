import { formatDuration } from '@hansard/facts';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { LibraryLine, PersonsMark, StoreSpending } from '../answers.ts';
import { LatestAnswer, readDispatches, useAnswer } from './api.ts';
import { isTyping } from './is-typing.ts';
import {
  agoText,
  groupsOf,
  type ListedSession,
  projectName,
  type SessionGroup,
  type SortKey,
  sessionKey,
  sessionsAt,
  sortOf,
} from './library-list.ts';
import { MarkSigns, Problems, SavedFilters, useMarks } from './marks.tsx';
import { addressOf, goTo, type LibraryPlace } from './place-in-address.ts';
import { Contents } from './search/search-screen.tsx';
import { SpendingPanel } from './spending-panel.tsx';
import { countText, timeText } from './words.ts';

/** The rows that are drawn at once. More come with a button. */
const rowsAtOnce = 300;

/** The sessions of the store, or of a task. It updates itself. */
export function LibraryScreen({ place }: { readonly place: LibraryPlace }) {
  const { task } = place;
  const { lines, problem, isReading } = useLines(task);
  // The sums of many sessions take longer than the first rows.
  const spending = useAnswer<StoreSpending>(
    lines === null ? null : `/api/spending${task === null ? '' : `?task=${encodeURIComponent(task)}`}`,
    () => true,
  );
  const now = useNow();
  const change = (part: Partial<LibraryPlace>, how: 'push' | 'replace' = 'push') =>
    goTo({ ...place, ...part }, how);
  useEffect(() => {
    document.title = task === null ? 'Hansard' : `${task} · Hansard`;
    addEventListener('keydown', onLibraryKey);
    return () => removeEventListener('keydown', onLibraryKey);
  }, [task]);
  const day = spending.answer?.days.find((one) => one.day === place.day);
  const here = useMarks(null);
  const marks = useMemo(() => bySession(here.marks), [here.marks]);
  const sessions = useMemo(
    () => (lines === null ? null : sessionsAt(lines, place, day, marks)),
    [lines, addressOf(place), day, marks],
  );
  return (
    <main class="library">
      <Top place={place} change={change} />
      {problem === null ? null : <p role="alert">{problem}</p>}
      {lines?.length === 0 ? null : (
        <SpendingPanel
          spending={spending.answer}
          problem={spending.problem}
          place={place}
          onChange={change}
        />
      )}
      {sessions === null || lines === null ? (
        <p aria-busy="true">Reading…</p>
      ) : lines.length === 0 ? (
        <FirstSteps />
      ) : (
        <>
          <SavedFilters here={here} address={addressOf(place)} />
          <Problems texts={here.problems} />
          <Chosen
            place={place}
            marks={here.marks}
            count={countOf(sessions)}
            all={lines.filter(({ facts }) => facts !== null).length}
            isReading={isReading}
            change={change}
          />
          <Sessions
            groups={groupsOf(sessions, place, now)}
            place={place}
            now={now}
            marks={marks}
            change={change}
          />
          <Unreadable lines={lines} />
        </>
      )}
      <Contents text={place.filter ?? ''} task={task} />
    </main>
  );
}

function countOf(sessions: readonly ListedSession[]): number {
  return sessions.reduce((sum, { workers }) => sum + 1 + countOf(workers), 0);
}

function bySession(marks: readonly PersonsMark[]): ReadonlyMap<string, readonly PersonsMark[]> {
  return Map.groupBy(
    marks.filter(({ on }) => on !== null),
    ({ on }) => `${on?.task}/${on?.id}`,
  );
}

type Change = (part: Partial<LibraryPlace>, how?: 'push' | 'replace') => void;

function Top({ place, change }: { readonly place: LibraryPlace; readonly change: Change }) {
  const { task, filter = '' } = place;
  return (
    <header class="top">
      <a class="brand" href={addressOf({ kind: 'library', task: null })}>
        Hansard
      </a>
      <h1>{task ?? 'Sessions'}</h1>
      {task === null ? null : <a href={addressOf({ kind: 'tree', task })}>Tree and cost</a>}
      <a href={addressOf({ kind: 'search', text: '', task })}>Find in events</a>
      <search class="grow">
        <input
          type="search"
          id="search"
          aria-label="Search titles and contents"
          placeholder="Search titles and contents   /"
          value={filter}
          onInput={({ currentTarget: { value } }) => change({ filter: value }, 'replace')}
          onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
        />
      </search>
    </header>
  );
}

/** Milliseconds. Ages are shown in minutes. */
const nowMs = 30_000;

function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), nowMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** The most pages of sessions that are read: 10,000 sessions. */
const mostPages = 20;

/** Milliseconds after a change until pages after the first one are read again. */
const allMs = 10_000;

/** The lines of the sessions: the newest at once, then older ones; read again after changes of the store. */
function useLines(task: string | null) {
  const [lines, setLines] = useState<readonly LibraryLine[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isReading, setReading] = useState(true);
  useEffect(() => {
    const answers = new LatestAnswer<readonly LibraryLine[]>();
    let isOver = false;
    let later: ReturnType<typeof setTimeout> | undefined;
    let older: readonly LibraryLine[] = [];
    const read = async (isAll: boolean) => {
      try {
        let page = await readDispatches(task, null);
        const first = await answers.of(Promise.resolve(page.dispatches));
        if (isOver || first === null) return;
        setProblem(null);
        setLines(once([...first, ...older]));
        if (!isAll && page.next !== null) {
          later ??= setTimeout(() => void readAll(), allMs);
          return;
        }
        const rest: LibraryLine[] = [];
        for (let count = 1; page.next !== null && count < mostPages; count += 1) {
          page = await readDispatches(task, page.next);
          rest.push(...page.dispatches);
          if (isOver) return;
          if (older.length < rest.length) setLines(once([...first, ...rest]));
        }
        older = rest;
        setReading(false);
      } catch (error) {
        if (!isOver) setProblem(error instanceof Error ? error.message : String(error));
      }
    };
    const readAll = () => {
      later = undefined;
      return read(true);
    };
    void readAll();
    const changes = new EventSource('/api/changes');
    changes.onmessage = () => void read(false);
    // A connection begins: what changed before it is not reported.
    changes.addEventListener('hello', () => void read(false));
    return () => {
      isOver = true;
      clearTimeout(later);
      changes.close();
    };
  }, [task]);
  return { lines, problem, isReading };
}

/** A session that began meanwhile moves others to the next page. */
function once(lines: readonly LibraryLine[]): LibraryLine[] {
  return [...new Map(lines.map((line) => [sessionKey(line), line])).values()];
}

interface ChosenProps {
  readonly place: LibraryPlace;
  readonly marks: readonly PersonsMark[];
  readonly count: number;
  readonly all: number;
  readonly isReading: boolean;
  readonly change: Change;
}

/** How many sessions are shown, and the filters, each with a button that ends it. */
function Chosen({ place, marks, count, all, isReading, change }: ChosenProps) {
  const tags = [...new Set(marks.flatMap(({ kind, text }) => (kind === 'tag' ? text : [])))].sort();
  const chips = (['day', 'project', 'model'] as const).flatMap((name) => {
    const value = place[name];
    return value === undefined ? [] : { name, value: name === 'project' ? projectName(value) : value };
  });
  return (
    <div class="chosen">
      <output>
        {countText(count)} {count === 1 ? 'session' : 'sessions'}
        {count === all ? '' : ` of ${countText(all)}`}
        {isReading ? ' …' : ''}
      </output>
      {chips.map(({ name, value }) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-label={`Remove the filter ${name} ${value}`}
          onClick={() => change({ [name]: undefined })}
        >
          {name} <b>{value}</b> ×
        </button>
      ))}
      {marks.every(({ on }) => on === null) && place.mark === undefined ? null : (
        <label>
          Marks{' '}
          <select
            value={place.mark ?? ''}
            onChange={({ currentTarget: { value } }) => change({ mark: value === '' ? undefined : value })}
          >
            <option value="">all sessions</option>
            <option value="any">marked</option>
            <option value="bookmark">bookmarked</option>
            {tags.map((tag) => (
              <option key={tag} value={`#${tag}`}>
                #{tag}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        Group by{' '}
        <select
          value={place.group ?? (sortOf(place.sort).key === 'when' ? 'day' : 'none')}
          onChange={({ currentTarget: { value } }) => change({ group: value })}
        >
          <option value="day">day</option>
          <option value="project">project</option>
          <option value="none">nothing</option>
        </select>
      </label>
    </div>
  );
}

const columns: readonly (readonly [key: SortKey, title: string, isNumber: boolean])[] = [
  ['title', 'Session', false],
  ['project', 'Project', false],
  ['model', 'Model', false],
  ['when', 'Last active', true],
  ['duration', 'Duration', true],
  ['tokens', 'Tokens', true],
  ['cost', 'Cost', true],
];

interface SessionsProps {
  readonly groups: readonly SessionGroup[];
  readonly marks: ReadonlyMap<string, readonly PersonsMark[]>;
  readonly place: LibraryPlace;
  readonly now: number;
  readonly change: Change;
}

function Sessions({ groups, marks, place, now, change }: SessionsProps) {
  const [most, setMost] = useState(rowsAtOnce);
  const all = groups.reduce((sum, { sessions }) => sum + sessions.length, 0);
  if (all === 0) return <p class="nothing">No title has these words.</p>;
  const sort = sortOf(place.sort);
  let left = most;
  return (
    <>
      <table class="sessions">
        <thead>
          <tr>
            {columns.map(([key, title, isNumber]) => (
              <th
                key={key}
                scope="col"
                class={`${key}${isNumber ? ' number' : ''}`}
                aria-sort={sort.key === key ? (sort.isAscending ? 'ascending' : 'descending') : undefined}
              >
                <button
                  type="button"
                  onClick={() => change({ sort: sort.key === key && !sort.isAscending ? `-${key}` : key })}
                >
                  {title}
                  <span class="arrow">{sort.key === key ? (sort.isAscending ? ' ↑' : ' ↓') : ''}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        {groups.map(({ heading, sessions }) => {
          const shown = sessions.slice(0, Math.max(0, left));
          left -= sessions.length;
          return shown.length === 0 ? null : (
            <tbody key={heading}>
              {heading === '' ? null : (
                <tr class="heading">
                  <th scope="rowgroup">
                    {heading} <span class="dim">{countText(sessions.length)}</span>
                  </th>
                </tr>
              )}
              {shown.map((session) => (
                <SessionRows
                  key={sessionKey(session.line)}
                  session={session}
                  depth={0}
                  now={now}
                  filter={place.filter ?? ''}
                  marks={marks}
                  onTag={(tag) => change({ mark: `#${tag}` })}
                />
              ))}
            </tbody>
          );
        })}
      </table>
      {all <= most ? null : (
        <p>
          <button type="button" onClick={() => setMost(most + rowsAtOnce)}>
            Show {countText(Math.min(rowsAtOnce, all - most))} more of {countText(all)}
          </button>
        </p>
      )}
    </>
  );
}

interface SessionRowsProps {
  readonly session: ListedSession;
  readonly depth: number;
  readonly now: number;
  readonly filter: string;
  readonly marks: ReadonlyMap<string, readonly PersonsMark[]>;
  onTag(tag: string): void;
}

/** A session, and its workers if they are opened. */
function SessionRows({ session, depth, ...list }: SessionRowsProps) {
  const { now, filter, marks, onTag } = list;
  const [isOpen, setOpen] = useState(false);
  const { line, facts, workers } = session;
  const { title, project, product, models, activeAt, durationMs, tokens, cost } = facts;
  const [model = '', ...others] = models;
  return (
    <>
      <tr>
        <th scope="row" class="title">
          <div style={{ paddingInlineStart: `${depth * 18}px` }}>
            <State facts={facts} />
            {depth > 0 || facts.parent !== null ? <span class="dim">↳ </span> : null}
            <a
              class="session"
              dir="auto"
              title={title}
              href={addressOf({
                kind: 'conversation',
                task: line.taskDir,
                id: line.dispatchId ?? '',
                at: null,
              })}
            >
              <Marked text={title} filter={filter} />
            </a>
            <MarkSigns marks={marks.get(sessionKey(line)) ?? []} withNotes onTag={onTag} />
            {workers.length === 0 ? null : (
              <button type="button" class="chip" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                {workers.length} {workers.length === 1 ? 'worker' : 'workers'}
              </button>
            )}
          </div>
        </th>
        <td class="project" title={`${project} (${line.taskDir})`}>
          <bdi>{projectName(project)}</bdi>
          {product === null ? null : <span class="dim"> {product}</span>}
        </td>
        <td class="model dim" title={models.join(', ')}>
          {model}
          {others.length === 0 ? '' : ` +${others.length}`}
        </td>
        <td class="when number" title={`${localText(activeAt)} (${timeText(activeAt)} UTC)`}>
          {agoText(activeAt, now)}
        </td>
        <td class="duration number dim">{durationMs === null ? '' : formatDuration(durationMs)}</td>
        <td class="tokens number dim" data-label="tokens" title={tokens ?? ''}>
          {tokens}
        </td>
        <td class="cost number">{cost}</td>
      </tr>
      {isOpen
        ? workers.map((worker) => (
            <SessionRows key={sessionKey(worker.line)} session={worker} depth={depth + 1} {...list} />
          ))
        : null}
    </>
  );
}

/** Only a state that a reader must know: not that a session has ended well. */
function State({ facts: { status, isImported, waiting } }: Pick<ListedSession, 'facts'>) {
  if (waiting > 0) return <span class="state waits">waits for you</span>;
  if (status === 'completed') return null;
  return (
    <span class={`state ${status}${isImported ? ' imported' : ''}`}>
      {status === 'running' && isImported ? 'not ended' : status}
    </span>
  );
}

function localText(time: string | null): string {
  return time === null
    ? ''
    : new Date(time).toLocaleString('en-GB', { dateStyle: 'full', timeStyle: 'medium' });
}

/** A text with the words of a filter marked. */
function Marked({ text, filter }: { readonly text: string; readonly filter: string }) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = text.toLowerCase();
  // Where lower case has another length, places do not fit.
  if (words.length === 0 || lower.length !== text.length) return <>{text}</>;
  const isMarked = new Uint8Array(text.length);
  for (const word of words)
    for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + word.length))
      isMarked.fill(1, at, at + word.length);
  const pieces: { text: string; isMark: boolean }[] = [];
  for (const [at, mark] of isMarked.entries()) {
    const last = pieces.at(-1);
    if (last !== undefined && last.isMark === (mark === 1)) last.text += text[at];
    else pieces.push({ text: text[at] ?? '', isMark: mark === 1 });
  }
  return <>{pieces.map((piece, at) => (piece.isMark ? <mark key={at}>{piece.text}</mark> : piece.text))}</>;
}

/** Tasks and sessions that cannot be read, with the reason. */
function Unreadable({ lines }: { readonly lines: readonly LibraryLine[] }) {
  const unreadable = lines.filter(({ facts }) => facts === null);
  if (unreadable.length === 0) return null;
  return (
    <section class="unreadable">
      <h2>{countText(unreadable.length)} cannot be read</h2>
      <ul>
        {unreadable.map(({ taskDir, dispatchId, error }) => (
          <li key={`${taskDir}/${dispatchId}`}>
            {taskDir} <span class="bad">{error ?? 'It cannot be read.'}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What to do in an empty store. */
function FirstSteps() {
  return (
    <section class="first">
      <h2>There are no sessions yet.</h2>
      <p>This page updates itself: leave it open, and run one of these in a terminal.</p>
      <dl>
        <dt>
          <code>hansard import ~</code>
        </dt>
        <dd>reads the sessions that Claude Code, Codex and other agents keep on this machine. Asks first.</dd>
        <dt>
          <code>hansard demo</code>
        </dt>
        <dd>records a few agents, to look around.</dd>
        <dt>
          <code>hansard chat</code>
        </dt>
        <dd>talks to an agent, and records it.</dd>
      </dl>
    </section>
  );
}

/** Focuses the search, or the next or the previous session. */
function onLibraryKey(event: KeyboardEvent): void {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return;
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[key];
  if (key === '/') document.getElementById('search')?.focus();
  else if (step !== undefined) {
    const links = [...document.querySelectorAll<HTMLElement>('a.session, .hits a')];
    const at = links.indexOf(document.activeElement as HTMLElement);
    links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
  } else return;
  event.preventDefault();
}

import type { LibraryFacts, LibraryLine, PersonsMark, SpentDay } from '../answers.ts';
import type { LibraryPlace } from './place-in-address.ts';

/** What the columns of the library are sorted by. The first is usual. */
const sortKeys = ['when', 'title', 'project', 'model', 'duration', 'tokens', 'cost'] as const;

export type SortKey = (typeof sortKeys)[number];

/** A session that can be read, with the workers that are shown below it. */
export interface ListedSession {
  readonly line: LibraryLine;
  readonly facts: LibraryFacts;
  readonly workers: readonly ListedSession[];
}

/** Sessions under a heading; '': without one. */
export interface SessionGroup {
  readonly heading: string;
  readonly sessions: readonly ListedSession[];
}

/** The last name of a project's path. */
export function projectName(project: string): string {
  return project.split('/').findLast((part) => part !== '') ?? project;
}

/** Unique in the store. */
export function sessionKey({ taskDir, dispatchId }: Pick<LibraryLine, 'taskDir' | 'dispatchId'>): string {
  return `${taskDir}/${dispatchId}`;
}

/** The sessions that match the place, each worker below its session if that is shown, too. */
export function sessionsAt(
  lines: readonly LibraryLine[],
  place: LibraryPlace,
  day: SpentDay | undefined,
  marks: ReadonlyMap<string, readonly PersonsMark[]> = new Map(),
): ListedSession[] {
  const words = (place.filter ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const shown = lines.flatMap((line) => {
    const { facts } = line;
    return facts !== null &&
      matches(line, facts, { place, day, words, marks: marks.get(sessionKey(line)) ?? [] })
      ? { line, facts }
      : [];
  });
  const known = new Set(shown.map(({ line }) => line.dispatchId));
  const below = Map.groupBy(shown, ({ facts }) =>
    facts.parent !== null && known.has(facts.parent) ? facts.parent : '',
  );
  const { key, isAscending } = sortOf(place.sort);
  const compare = comparisons[key];
  const withWorkers = (one: Omit<ListedSession, 'workers'>, depth: number): ListedSession => ({
    ...one,
    workers:
      depth > 8
        ? []
        : (below.get(one.line.dispatchId ?? '') ?? []).map((worker) => withWorkers(worker, depth + 1)),
  });
  const roots = (below.get('') ?? []).map((one) => withWorkers(one, 0));
  return roots.sort((one, other) => (isAscending ? -1 : 1) * compare(one.facts, other.facts));
}

interface Wanted {
  readonly place: LibraryPlace;
  readonly day: SpentDay | undefined;
  readonly words: readonly string[];
  readonly marks: readonly PersonsMark[];
}

function matches(line: LibraryLine, facts: LibraryFacts, { place, day, words, marks }: Wanted): boolean {
  if (place.project !== undefined && facts.project !== place.project) return false;
  if (place.model !== undefined && !facts.models.includes(place.model)) return false;
  if (place.day !== undefined && !isWithin(facts, day)) return false;
  if (place.mark === 'any' && marks.length === 0) return false;
  if (place.mark === 'bookmark' && !marks.some(({ kind }) => kind === 'bookmark')) return false;
  const tag = place.mark?.startsWith('#') ? place.mark.slice(1) : null;
  if (tag !== null && !marks.some(({ kind, text }) => kind === 'tag' && text === tag)) return false;
  if (words.length === 0) return true;
  const { title, project, product, models, status } = facts;
  const ofPeople = marks.map((mark) => (mark.kind === 'tag' ? `#${mark.text}` : mark.text));
  const text = [title, project, product, ...models, status, line.taskDir, line.dispatchId, ...ofPeople]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Whether a session was active between the beginning and the end of a day. */
function isWithin({ startedAt, activeAt }: LibraryFacts, day: SpentDay | undefined): boolean {
  if (day === undefined) return false;
  const [start, end] = [startedAt ?? activeAt, activeAt ?? startedAt].map((time) => Date.parse(time ?? ''));
  return (start ?? Number.NaN) < day.end && (end ?? Number.NaN) >= day.start;
}

/** The greatest first, and texts from A to Z. */
const comparisons: Readonly<Record<SortKey, (one: LibraryFacts, other: LibraryFacts) => number>> = {
  when: (one, other) => textOrder(other.activeAt ?? '', one.activeAt ?? ''),
  title: (one, other) => one.title.localeCompare(other.title),
  project: (one, other) => projectName(one.project).localeCompare(projectName(other.project)),
  model: (one, other) => (one.models[0] ?? '').localeCompare(other.models[0] ?? ''),
  duration: (one, other) => (other.durationMs ?? -1) - (one.durationMs ?? -1),
  tokens: (one, other) => other.tokenCount - one.tokenCount,
  cost: (one, other) => other.costUsd - one.costUsd,
};

function textOrder(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The order that an address names: `cost`, or `-cost` for the other way round. */
export function sortOf(sort: string | undefined): { readonly key: SortKey; readonly isAscending: boolean } {
  const isAscending = sort?.startsWith('-') === true;
  const name = isAscending ? sort?.slice(1) : sort;
  return { key: sortKeys.find((known) => known === name) ?? 'when', isAscending };
}

/** Sessions under the day of their last activity, or under their project, in their order. */
export function groupsOf(
  sessions: readonly ListedSession[],
  place: LibraryPlace,
  now: number,
): SessionGroup[] {
  const group = place.group ?? (sortOf(place.sort).key === 'when' ? 'day' : 'none');
  if (group === 'none') return sessions.length === 0 ? [] : [{ heading: '', sessions }];
  const heading = ({ facts }: ListedSession) =>
    group === 'day' ? dayText(facts.activeAt, now) : facts.project;
  return [...Map.groupBy(sessions, heading)].map(([name, own]) => ({ heading: name, sessions: own }));
}

const dayMs = 86_400_000;

/** `Today`, `Yesterday`, or the day in the zone of the browser. */
function dayText(time: string | null, now: number): string {
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return 'Time not recorded';
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const days = Math.round((midnight - new Date(date).setHours(0, 0, 0, 0)) / dayMs);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(isThisYear ? {} : { year: 'numeric' }),
  });
}

/** `now`, `5 min ago`, `2 h ago`, `3 d ago`, then the date. */
export function agoText(time: string | null, now: number): string {
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return '';
  const minutes = Math.floor((now - date.getTime()) / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  if (minutes < 7 * 24 * 60) return `${Math.floor(minutes / 60 / 24)} d ago`;
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  });
}

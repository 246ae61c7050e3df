import { describe, expect, it } from 'vitest';
import type { LibraryFacts, LibraryLine } from '../src/answers.ts';
import { agoText, groupsOf, type ListedSession, sessionsAt } from '../src/page/library-list.ts';
import type { LibraryPlace } from '../src/page/place-in-address.ts';

const now = Date.parse('2026-03-10T12:00:00.000Z');
const everything: LibraryPlace = { kind: 'library', task: null };

function line(dispatchId: string, facts: Partial<LibraryFacts>): LibraryLine {
  const at = '2026-03-10T09:00:00.000Z';
  return {
    taskDir: 'lab/tasks/maps',
    dispatchId,
    facts: {
      title: dispatchId,
      parent: null,
      project: '/home/a/maps',
      product: null,
      models: [],
      status: 'completed',
      isImported: false,
      waiting: 0,
      startedAt: at,
      activeAt: at,
      durationMs: null,
      tokens: null,
      tokenCount: 0,
      cost: null,
      costUsd: 0,
      ...facts,
    },
  };
}

const lines = [
  line('a', { title: 'Draw the Map', costUsd: 1, models: ['big', 'small'] }),
  line('b', {
    title: 'Map the sea',
    costUsd: 3,
    project: '/home/a/seas',
    startedAt: '2026-03-08T23:00:00.000Z',
    activeAt: '2026-03-09T01:00:00.000Z',
  }),
  line('w', { title: 'worker', parent: 'a', costUsd: 2 }),
  line('u', { title: 'untimed', startedAt: null, activeAt: null }),
];
const ids = (sessions: readonly ListedSession[]): unknown[] =>
  sessions.map(({ line: { dispatchId }, workers }) =>
    workers.length === 0 ? dispatchId : [dispatchId, ids(workers)],
  );
const shown = (place: Partial<LibraryPlace>, day?: { start: string; end: string }) =>
  ids(
    sessionsAt(
      lines,
      { ...everything, ...place },
      day && {
        day: '',
        start: Date.parse(day.start),
        end: Date.parse(day.end),
        sessions: 0,
        tokens: 0,
        costUsd: 0,
        cost: null,
      },
    ),
  );

describe('the sessions of the library', () => {
  it('are the newest first, with workers below the session that started them', () => {
    expect(shown({})).toEqual([['a', ['w']], 'b', 'u']);
  });

  it('are sorted by a column, and the other way round', () => {
    expect(shown({ sort: 'cost' })).toEqual(['b', ['a', ['w']], 'u']);
    expect(shown({ sort: '-cost' })).toEqual(['u', ['a', ['w']], 'b']);
    expect(shown({ sort: 'title' })).toEqual([['a', ['w']], 'b', 'u']);
    expect(shown({ sort: 'nothing' })).toEqual(shown({}));
  });

  it('have every word of the filter, and the project, the model and the day of the address', () => {
    expect(shown({ filter: 'map DRAW' })).toEqual(['a']);
    expect(shown({ filter: 'worker' })).toEqual(['w']);
    expect(shown({ project: '/home/a/seas' })).toEqual(['b']);
    expect(shown({ model: 'small' })).toEqual(['a']);
    const day = (date: string) => ({
      start: `2026-03-${date}T00:00:00.000Z`,
      end: `2026-03-${date}T23:59:59.999Z`,
    });
    expect(shown({ day: 'x' }, day('08'))).toEqual(['b']);
    expect(shown({ day: 'x' }, day('09'))).toEqual(['b']);
    expect(shown({ day: 'x' }, day('07'))).toEqual([]);
    expect(shown({ day: 'x' })).toEqual([]);
  });

  it('are grouped by day, unless they are sorted by something else', () => {
    const headings = (place: LibraryPlace) =>
      groupsOf(sessionsAt(lines, place, undefined), place, now).map(({ heading }) => heading);
    expect(headings(everything)).toEqual(['Today', 'Yesterday', 'Time not recorded']);
    expect(headings({ ...everything, sort: 'cost' })).toEqual(['']);
    expect(headings({ ...everything, group: 'project' })).toEqual(['/home/a/maps', '/home/a/seas']);
  });
});

it('says how long ago something was', () => {
  const ago = (minutes: number) => agoText(new Date(now - minutes * 60_000).toISOString(), now);
  expect([0, 5, 125, 60 * 24 * 3, 60 * 24 * 30].map(ago)).toEqual([
    'now',
    '5 min ago',
    '2 h ago',
    '3 d ago',
    '8 Feb',
  ]);
  expect([agoText('2024-07-21T10:00:00.000Z', now), agoText(null, now), agoText('none', now)]).toEqual([
    '21 Jul 2024',
    '',
    '',
  ]);
});

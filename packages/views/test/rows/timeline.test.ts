import { describe, expect, it } from 'vitest';
import { renderTimeline, timelineOf } from '../../src/index.ts';
import { anyEvent } from '../make.ts';
import { calls, created, receives } from '../market-log.ts';

const events = [
  created('e1', 'ben', 'Ben'),
  calls('e2', 'ben', 'c1', 'look', { shelf: 2 }),
  receives('e3', 'ben', 'c1', 'Three\nloaves'),
  anyEvent('weather:rain', { drops: 3 }),
];

describe('timelineOf', () => {
  it('has every event in order, of any type, with the names of agents', () => {
    expect(timelineOf(events).map(({ position, line }) => [position, line.agent, line.kind])).toEqual([
      [0, 'Ben', 'created'],
      [1, 'Ben', 'call'],
      [2, 'Ben', 'result'],
      [3, '', 'weather:rain'],
    ]);
  });

  it('prints a line for each event, fitted to the width', () => {
    expect(renderTimeline(timelineOf(events)).split('\n')).toEqual([
      '0  09:30:00  (Ben)  created   Ben',
      '1  09:30:00  (Ben)  call      look  {"shelf":2}',
      '2  09:30:00  (Ben)  result    talk  completed  Three⏎loaves',
      '3  09:30:00  weather:rain  {"drops":3}',
    ]);
    expect(renderTimeline(timelineOf(events), { width: 30 }).split('\n')[2]).toHaveLength(30);
  });

  it('prints each day before its first event, if there are several days', () => {
    const at = (timestamp: string) => ({ ...anyEvent('weather:rain', { drops: 3 }), timestamp });
    const days = ['2026-03-01T23:59:00.000Z', '2026-03-02T00:01:00.000Z', '2026-03-02T00:02:00.000Z'];
    expect(renderTimeline(timelineOf(days.map(at))).split('\n')).toEqual([
      '2026-03-01',
      '0  23:59:00  weather:rain  {"drops":3}',
      '2026-03-02',
      '1  00:01:00  weather:rain  {"drops":3}',
      '2  00:02:00  weather:rain  {"drops":3}',
    ]);
  });

  it('shows the role in each row for several dispatches', () => {
    const [first = [], second = []] = ['tester', 'coder'].map((role) =>
      timelineOf(events).map((row) => ({ ...row, position: row.position + 9, role })),
    );
    expect(renderTimeline([...first.slice(1, 2), ...second.slice(0, 1)]).split('\n')).toEqual([
      '10  09:30:00  tester  (Ben)  call      look  {"shelf":2}',
      ' 9  09:30:00  coder  (Ben)  created   Ben',
    ]);
  });
});

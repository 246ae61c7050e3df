import { neutraliseControlsInLine } from '@hansard/events/plain';
import { timeNotRecorded } from '@hansard/facts';
import type { CliContext } from '../terminal/context.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { shownTime } from '../terminal/shown-time.ts';

/** A column of a listing. */
export interface Column {
  readonly name: string;
  readonly cells: readonly string[];
  /** How far it can be cut if the rows do not fit; 0: it can be left out. Absent: never. */
  readonly least?: number;
  /** Which part of a cell stays. Absent: its start. */
  readonly keep?: 'start' | 'end';
}

/** The columns of a line that is not written to a terminal. */
const usualWidth = 140;

/** The width of a listing: that of the terminal, also behind a pipe, or else a usual one. */
function listingWidth({ stdout, stderr, env }: CliContext): number {
  const widths = [
    stdout.isTTY ? stdout.columns : undefined,
    Number(env.COLUMNS),
    stderr.isTTY ? stderr.columns : undefined,
  ];
  return widths.find((width) => width !== undefined && width > 0) ?? usualWidth;
}

/**
 * A table whose first column says what a row is. A column with the same cell in every row is stated once, below it. `cut`: the names of
 * columns in the order in which they are cut to fit.
 */
export async function listing(
  context: CliContext,
  columns: readonly Column[],
  cut: readonly string[],
): Promise<string> {
  const [first] = columns;
  const count = first?.cells.length ?? 0;
  const isEqual = ({ cells }: Column) => new Set(cells).size <= 1;
  const kept = columns.filter(
    (column) => column === first || (count === 1 ? column.cells[0] !== '' : !isEqual(column)),
  );
  const same = columns.filter((column) => !kept.includes(column) && (column.cells[0] ?? '') !== '');
  const table = await plainTable(
    kept.map(({ name }) => name),
    Array.from({ length: count }, (_, at) => kept.map(({ cells }) => cells[at] ?? '')),
    {
      width: listingWidth(context),
      cut: cut.flatMap((name) => {
        const { least, keep = 'start' } = columns.find((column) => column.name === name) ?? {};
        return least === undefined ? [] : [{ column: name, least, keep }];
      }),
    },
  );
  const words = same.map(({ name, cells }) => `${name} ${neutraliseControlsInLine(cells[0] ?? '')}`);
  const [head = ''] = table.split('\n');
  const hidden = kept.filter(({ name, cells }) => !head.includes(name) && cells.some((cell) => cell !== ''));
  return [
    table,
    ...(words.length === 0 ? [] : [`All: ${words.join(', ')}`]),
    ...(hidden.length === 0 ? [] : [`Hidden at this width: ${hidden.map(({ name }) => name).join(', ')}`]),
  ].join('\n');
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** From this age on, a date says more. */
const longAgoMs = 14 * dayMs;

/** How long ago a time is, such as `2 h ago`; its date if that is long; with `--utc` the time itself. Null: not recorded. */
export function ago(context: CliContext, timestamp: string | null): string {
  if (timestamp === null) return timeNotRecorded;
  const shown = shownTime(context, timestamp);
  if (context.zone === 'utc') return `${shown.slice(0, 10)} ${shown.slice(11, 16)}`;
  const age = (context.now ?? Date.now)() - Date.parse(timestamp);
  if (age >= longAgoMs || age < -minuteMs) return shown.slice(0, 10);
  if (age < minuteMs) return 'now';
  if (age < hourMs) return `${Math.floor(age / minuteMs)} min ago`;
  if (age < dayMs) return `${Math.floor(age / hourMs)} h ago`;
  return `${Math.floor(age / dayMs)} d ago`;
}

import type { UsageKey, UsageOfKeys } from '@hansard/dispatch';
import {
  callsIn,
  formatCost,
  formatDuration,
  formatTokens,
  tokensIn,
  type UsageFigures,
} from '@hansard/facts';
import { type CliContext, terminalWidth } from '../terminal/context.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { notKnown, usageValueInWords } from './usage-keys.ts';

const barColumns = 12;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/** From this width on, the heads of the counts are whole words. */
const wideColumns = 120;
const counts = ['calls', 'failed', 'tools', 'errors'];
const wideCounts = ['model calls', 'failed', 'tool calls', 'tool errors'];

/** Sums of usage for a terminal: the rows, then the total. */
export async function usageTable(
  context: CliContext,
  rows: readonly UsageOfKeys[],
  total: UsageFigures,
  by: readonly UsageKey[],
): Promise<string> {
  const width = terminalWidth(context);
  const zone = context.zone ?? 'local';
  const largest = Math.max(...rows.map(weightOf));
  const wide = width === undefined || width >= wideColumns;
  const head = [
    ...by,
    'sessions',
    ...(wide ? wideCounts : counts),
    ...['in', 'out', 'cache read', 'written', 'cost', 'estimated', 'time', ''],
  ];
  const lines = [
    ...rows.map((row) => [
      ...row.values.map((value, at) => inWords(by[at], value, zone)),
      ...cells(row),
      bar(weightOf(row), largest),
    ]),
    [...by.map((_, at) => (at === 0 ? 'all' : '')), ...cells(total), ''],
  ];
  const always = by.length + 1 + counts.length;
  // Other columns without a known figure are left out.
  const shown = head.map(
    (_, index) => index < always || lines.some((line) => ![notKnown, ''].includes(line[index] ?? '')),
  );
  const keep = (line: readonly string[]) => line.filter((_, index) => shown[index]);
  return plainTable(keep(head), lines.map(keep), {
    width,
    cut: [
      ...['', 'time', 'sessions'].map((column) => ({ column, least: 0 })),
      ...keyCuts(by, 24),
      ...['written', 'cache read'].map((column) => ({ column, least: 0 })),
      ...keyCuts(by, 12),
    ],
  });
}

function inWords(key: UsageKey | undefined, value: string, zone: 'utc' | 'local'): string {
  return key === undefined ? notKnown : usageValueInWords(key, value, zone);
}

/** Names of tasks differ at their ends, and those of models and tools at their beginnings. */
function keyCuts(by: readonly UsageKey[], least: number) {
  return by.map((key) => ({ column: key, least, keep: isPath(key) ? ('end' as const) : ('start' as const) }));
}

function isPath(key: UsageKey): boolean {
  return key === 'task' || key === 'project';
}

/** What the bars compare: tokens, or calls where no tokens are known. */
function weightOf(figures: UsageFigures): number {
  return tokensIn(figures) || callsIn(figures);
}

function cells(figures: UsageFigures): string[] {
  const count = (value: number | null) => (value === null ? notKnown : value.toLocaleString('en'));
  const tokens = (value: number | null) => (value === null ? notKnown : formatTokens(value));
  const cost = (value: number | null) => (value === null ? notKnown : formatCost(value));
  return [
    count(figures.dispatches),
    ...[count(figures.modelCalls), count(figures.failedModelCalls)],
    ...[count(figures.toolCalls), count(figures.failedToolCalls)],
    ...[tokens(figures.inputTokens), tokens(figures.outputTokens)],
    ...[tokens(figures.cacheReadTokens), tokens(figures.cacheWriteTokens)],
    // A lower bound is marked as in every other listing.
    ...[cost(figures.costUsd), `${cost(figures.estimatedUsd)}${isLowerBound(figures) ? '+' : ''}`],
    figures.durationMs === null ? notKnown : formatDuration(figures.durationMs),
  ];
}

function isLowerBound({ estimatedUsd, unpriced }: UsageFigures): boolean {
  return estimatedUsd !== null && unpriced.length > 0;
}

function bar(value: number, largest: number): string {
  if (largest === 0 || value === 0) return '';
  const parts = Math.max(1, Math.round((value / largest) * barColumns * 8));
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
}

import { setImmediate } from 'node:timers/promises';
import { type DispatchEntry, usageOf } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  addSpending,
  dispatchDuration,
  formatSpending,
  projectOf,
  spendingOf,
  tokensIn,
  tokensInWords,
  type UsageFigures,
  withOpenCalls,
} from '@hansard/facts';
import type { LibraryLine, SpentDay, SpentShare, StoreSpending } from '../answers.ts';
import type { ViewedStore } from './viewed-store.ts';

const dayMs = 86_400_000;

/** The days of the charts, today included. */
const days = 30;

/** The most dispatches that the charts are made from, the newest. */
const mostDispatches = 20_000;

/** The rows of a chart by project or model. */
const mostShares = 8;

/** What the products are called whose sessions are imported, by the format of their logs. */
const products: Readonly<Record<string, string>> = {
  'claude-transcript': 'Claude Code',
  'claude-stream': 'Claude Agent SDK',
  codex: 'Codex',
  'gemini-cli': 'Gemini CLI',
  opencode: 'OpenCode',
  pi: 'pi',
  'qwen-code': 'Qwen Code',
  'copilot-cli': 'Copilot CLI',
};

/** An entry of a listing as one line of the library. Its texts are harmless. */
export function libraryLine(entry: DispatchEntry): LibraryLine {
  if ('error' in entry) {
    const { taskDir, dispatchId = null, error } = entry;
    return { taskDir, dispatchId, error: neutraliseControlsInLine(error.message), facts: null };
  }
  const { taskDir, dispatchId, envelope, lastActiveAt } = entry;
  const { title, role, status, source, pending = [], parentDispatchId, startedAt, completedAt } = envelope;
  const spending = spendingOf(envelope);
  const models = modelsOf(envelope);
  return {
    taskDir,
    dispatchId,
    facts: {
      title: neutraliseControlsInLine(title ?? role),
      parent: parentDispatchId,
      project: neutraliseControlsInLine(projectOf(taskDir, envelope)),
      product: source === null ? null : neutraliseControlsInLine(products[source.format] ?? source.format),
      models: models.map((model) => neutraliseControlsInLine(model)),
      status,
      isImported: source !== null,
      waiting: status === 'running' ? pending.length : 0,
      startedAt,
      activeAt: lastActiveAt ?? completedAt ?? startedAt,
      durationMs: dispatchDuration(envelope),
      tokens: tokensInWords(envelope),
      tokenCount: tokenCountOf(envelope),
      cost: formatSpending(spending),
      costUsd: (spending.costUsd ?? 0) + (spending.estimatedUsd ?? 0),
    },
  };
}

/** The models that a session used, the most used first. */
function modelsOf(envelope: DispatchEnvelope): string[] {
  const { models, model } = withOpenCalls(envelope);
  const used = (models ?? []).toSorted((one, other) => other.calls - one.calls).map((usage) => usage.model);
  return used.length === 0 ? (model === null ? [] : [model]) : [...new Set(used)];
}

function tokenCountOf(envelope: DispatchEnvelope): number {
  const { usage } = withOpenCalls(envelope);
  return usage === null ? 0 : tokensIn(usage as UsageFigures);
}

/** What the sessions of the store, or of a task, used in the last 30 days of this machine's time zone, each call at its own time. */
export async function storeSpending(
  store: ViewedStore,
  taskDir: string | undefined,
  now: number,
): Promise<StoreSpending> {
  const entries: DispatchEntry[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<ViewedStore['listDispatches']>> = await store.listDispatches({
      order: 'newest',
      limit: 500,
      ...(taskDir === undefined ? {} : { taskDir }),
      ...(after === null ? {} : { after }),
    });
    entries.push(...page.dispatches);
    after = page.next;
    await setImmediate();
  } while (after !== null && entries.length < mostDispatches);
  const starts = lastDays(now);
  const since = starts[0] ?? now;
  const by = async (key: 'day' | 'project' | 'model') =>
    (await usageOf(store, { dispatches: entries, by: [key], since, zone: 'local' })).rows;
  const byDay = new Map((await by('day')).map((row) => [row.values[0] ?? '', row]));
  const spent = starts.map((start, at): SpentDay => {
    const day = dayOf(start);
    return { day, start, end: starts[at + 1] ?? start + dayMs, ...sharesOf(byDay.get(day)) };
  });
  return {
    days: spent,
    projects: shares(await by('project')),
    models: shares(await by('model')),
    isCut: after !== null,
    ...totalOf([...byDay.values()]),
  };
}

/** The beginnings of the last days, in the zone of this machine, in which a day can have 23 hours. */
function lastDays(now: number): number[] {
  const today = new Date(now);
  return Array.from({ length: days }, (_, at) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - (days - 1 - at)).getTime(),
  );
}

function dayOf(start: number): string {
  const date = new Date(start);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function totalOf(rows: readonly UsageFigures[]): Pick<StoreSpending, 'cost'> {
  const [first, ...others] = rows;
  return { cost: first === undefined ? null : formatSpending(others.reduce(addSpending, first)) };
}

function shares(rows: readonly (UsageFigures & { readonly values: readonly string[] })[]): SpentShare[] {
  const all = rows.map((row) => ({
    name: neutraliseControlsInLine(row.values[0] ?? ''),
    ...sharesOf(row),
  }));
  const used = all.filter(({ name, tokens, costUsd }) => name !== '' && tokens + costUsd > 0);
  return used
    .sort((one, other) => other.costUsd - one.costUsd || other.tokens - one.tokens)
    .slice(0, mostShares);
}

function sharesOf(row: UsageFigures | undefined): Omit<SpentShare, 'name'> {
  if (row === undefined) return { sessions: 0, tokens: 0, costUsd: 0, cost: null };
  return {
    sessions: row.dispatches ?? 0,
    tokens: tokensIn(row),
    costUsd: (row.costUsd ?? 0) + (row.estimatedUsd ?? 0),
    cost: formatSpending(row),
  };
}

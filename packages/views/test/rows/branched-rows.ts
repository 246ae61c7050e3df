import type { CapturedEvent } from '@hansard/events';
import { type BranchedLog, branchedLog } from '@hansard/testing';
import { type Row, type RowFolds, rowsOf } from '../../src/index.ts';

/** A random log with branches, in which agents also receive what others said. */
export function talkingLog(seed: number, length = 48): BranchedLog {
  const log = branchedLog({ seed, length });
  let said: CapturedEvent | undefined;
  const events = log.events.map((event, at) => {
    const { type, agentId } = event;
    const isHeard = isPrompt(event) && (at + seed) % 2 === 0 && said?.agentId !== agentId;
    const heard = isHeard ? said : undefined;
    if (type === 'agent:text') said = event;
    if (heard === undefined) return event;
    const source = { kind: 'agent', agentId: heard.agentId ?? '' };
    return { ...event, substance: heard.id, data: { ...event.data, text: String(heard.data.text), source } };
  });
  return { ...log, events };
}

/** The rows that a reader shows, with the folds that are open. */
export function shownRows(
  { events }: BranchedLog,
  folds: RowFolds,
  open: (position: number) => boolean,
): Row[] {
  return rowsOf(events).flatMap((row) => folds.shown(row, ({ position }) => open(position)) ?? []);
}

/** Where the rows of a log are not folded as the writer of the log knows it, in words. */
export function wrongFolds(log: BranchedLog, folds: RowFolds): string[] {
  const wrong: string[] = [];
  const check = (what: string, is: unknown, right: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(right))
      wrong.push(`${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(right)}`);
  };
  const { events } = log;
  const current = new Map(
    log.agents.map(({ agentId, prompt, paths }) => [
      agentId,
      new Set(paths.find(({ state }) => state === 'current')?.ids ?? prompt.ids),
    ]),
  );
  const placedAt = (position: number) => log.placed.get(events[position]?.id ?? '');
  const isLeft = (position: number) => {
    const { ids = [], agentId = '' } = placedAt(position) ?? {};
    const last = ids.at(-1) ?? '';
    return log.placed.get(last)?.agentId === agentId && current.get(agentId)?.has(last) === false;
  };
  const rows = rowsOf(events);
  const closed = shownRows(log, folds, () => false);
  const open = shownRows(log, folds, () => true);
  const inAll = closed.flatMap((row) => row.events).sort((one, other) => one - other);
  check('the events of shown and folded rows', inAll, [...events.keys()]);
  check(
    'the rows of all branches',
    open.map((row) => row.position),
    rows.map((row) => row.position),
  );
  const folded = rows.filter((row) => row.events.every(isLeft));
  const rest = rows.filter((row) => !folded.includes(row));
  check(
    'rows that are not folded',
    closed.filter(({ fold }) => fold === undefined).map(({ position }) => position),
    rest.map(({ position }) => position),
  );
  const groups = [...Map.groupBy(folded, ({ position }) => placedAt(position)?.path)];
  check(
    'folds',
    closed.flatMap(({ position, events: own, fold }) =>
      fold?.of === 'branch' ? [[position, own, fold.state, fold.prompts, fold.events, fold.agentId]] : [],
    ),
    groups.map(([path, own]) => {
      const all = own.flatMap((row) => row.events).sort((one, other) => one - other);
      const prompts = all.filter((at) => isPrompt(events[at])).length;
      return [all[0], all, path?.state, prompts, all.length, own[0]?.agent.agentId];
    }),
  );
  for (const { fold } of closed) {
    if (fold?.of !== 'branch') continue;
    check('the address', events[fold.end]?.id, fold.address);
    const { path } = placedAt(fold.end) ?? {};
    const last = events.findLastIndex((_, at) => isLeft(at) && placedAt(at)?.path === path);
    check('the end', fold.end, last);
  }
  for (const row of open) {
    check(
      `the branch of ${row.position}`,
      row.branch,
      isLeft(row.position) ? placedAt(row.position)?.path.state : undefined,
    );
    const retracts = row.events.some((at) => log.retracted.has(events[at]?.id ?? ''));
    check(`the retraction of ${row.position}`, row.isRetracted ?? false, retracts);
  }
  return wrong;
}

function isPrompt(event: CapturedEvent | undefined): boolean {
  return (
    event?.type === 'user:message' && (event.data.source as { readonly kind?: string }).kind !== 'system'
  );
}

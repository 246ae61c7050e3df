import type { DispatchStore } from '@hansard/dispatch';
import { type GameFormatId, gameFormats, type ReadGame } from '@hansard/formats';
import { ensureTask } from '../tasks/ensure-task.ts';
import { toTaskDir, toTaskName } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, letInterrupt, note, printJson, printLine } from '../terminal/context.ts';
import { identifyLog, type TakenDispatches, takeDispatch } from './identify-log.ts';
import { readSource } from './read-source.ts';
import { recordEvents } from './record-events.ts';
import { diagnosticCounts, eventCounts, interrupted, noteRewritten } from './tell-imported.ts';

export interface ImportGamesOptions {
  readonly task?: string;
  readonly json?: boolean;
  readonly taken: TakenDispatches;
}

/** Brings the games of one log in, each into its dispatch. The files of a game log are read as one. */
export async function importGames(
  context: CliContext,
  store: DispatchStore,
  files: readonly string[],
  format: GameFormatId,
  { task, json, taken }: ImportGamesOptions,
): Promise<void> {
  const name = files.join(', ');
  if (task === undefined)
    throw new CliError(
      exitCode.usage,
      `${name}: a ${format} does not tell what task it belongs to.`,
      'Name it: --task PROJECT/SLUG.',
    );
  const taskDir = toTaskDir(task);
  const sources = files.map((file) => ({ file, source: readSource(file) }));
  const read = (now: number) => gameFormats[format].read(sources, { now: () => now });
  const first = read(Date.now());
  const dispatchIds = identifyGames(format, first);
  const before = await findStart(store, taskDir, dispatchIds);
  const games = before === null ? first : read(before);
  await ensureTask(context, store, taskDir);
  for (const [at, { events, report, isComplete, origin }] of games.entries()) {
    await letInterrupt(context);
    const dispatchId = dispatchIds[at] ?? '';
    takeDispatch(taken, taskDir, dispatchId, origin);
    const log = { dispatchId, role: 'game', events, isComplete };
    const recorded = await recordEvents(store, taskDir, log, context.signal);
    const { added, rewrittenCount, notInLog } = recorded;
    const { records, diagnostics } = report;
    for (const { file = name, line, message } of diagnostics) note(context, `${file}:${line}: ${message}`);
    noteRewritten(context, name, recorded, origin);
    if (json) {
      const numbers = { records, events: events.length, added, rewritten: rewrittenCount, notInLog };
      printJson(context, { files, taskDir, dispatchId, format, game: at + 1, ...numbers, diagnostics });
    } else
      printLine(
        context,
        `${toTaskName(taskDir)} ${dispatchId}: ${format}, game ${at + 1} of ${games.length}, records: ${records}, events: ${eventCounts(events.length, recorded)}, diagnostics: ${diagnosticCounts(diagnostics, rewrittenCount)}`,
      );
    if (context.signal.aborted) throw interrupted(name);
  }
}

/** The dispatch of each game. Games that begin with the very same record are told apart by their number. */
function identifyGames(format: GameFormatId, games: readonly ReadGame[]): string[] {
  const numbers = new Map<string, number>();
  return games.map(({ origin }) => {
    const id = identifyLog(format, origin);
    const number = (numbers.get(id) ?? 0) + 1;
    numbers.set(id, number);
    return number === 1 ? id : identifyLog(format, origin, number);
  });
}

/** The time of the first import, which is that of what has no time; null where this is the first. */
async function findStart(
  store: DispatchStore,
  taskDir: string,
  dispatchIds: readonly string[],
): Promise<number | null> {
  for (const dispatchId of dispatchIds) {
    const existing = await store.getDispatchEnvelope(taskDir, dispatchId);
    if (existing !== null) return Date.parse(existing.startedAt);
  }
  return null;
}

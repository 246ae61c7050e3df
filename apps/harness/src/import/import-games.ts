import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { DispatchStore } from '@hansard/dispatch';
import { type GameFormatId, gameFormats, type ReadGame } from '@hansard/formats';
import { CliError, exitCode } from '../cli-error.ts';
import { type CliContext, letInterrupt, note, printJson, printLine } from '../context.ts';
import { ensureTask } from '../ensure-task.ts';
import { toTaskDir, toTaskName } from '../task-name.ts';
import { unreadable } from './import-formats.ts';

export interface ImportGamesOptions {
  readonly task?: string;
  readonly json?: boolean;
}

/** Brings recorded games in, each as a new dispatch. The files of a game log belong together: they are read as one. */
export async function importGames(
  context: CliContext,
  store: DispatchStore,
  files: readonly string[],
  format: GameFormatId,
  { task, json }: ImportGamesOptions,
): Promise<void> {
  if (task === undefined)
    throw new CliError(
      exitCode.usage,
      `A ${format} does not tell what task it belongs to.`,
      'Name it: --task PROJECT/SLUG.',
    );
  const taskDir = toTaskDir(task);
  const sources = files.map((file) => ({ file, source: readSource(file) }));
  const games = gameFormats[format].read(sources);
  await ensureTask(store, taskDir);
  for (const [at, game] of games.entries()) {
    await letInterrupt(context);
    const dispatchId = await recordGame(store, taskDir, game);
    const { records, oddities } = game.report;
    for (const { file = files.map((name) => basename(name)).join(', '), line, message } of oddities)
      note(context, `${file}:${line}: ${message}`);
    const events = game.events.length;
    if (json) printJson(context, { taskDir, dispatchId, format, game: at + 1, records, events, oddities });
    else
      printLine(
        context,
        `${toTaskName(taskDir)} ${dispatchId}: ${format}, game ${at + 1} of ${games.length}, records: ${records}, events: ${events}, oddities: ${oddities.length}`,
      );
  }
}

async function recordGame(
  store: DispatchStore,
  taskDir: string,
  { events, isComplete }: ReadGame,
): Promise<string> {
  const startedAt = events.at(0)?.timestamp;
  const { dispatchId } = await store.createDispatch(taskDir, { role: 'game', fidelity: 'full', startedAt });
  await store.appendEvents(taskDir, dispatchId, events);
  await store.updateDispatch(taskDir, dispatchId, {
    // A log that does not say how its game ended was cut short.
    status: isComplete ? 'completed' : 'aborted',
    ...(startedAt === undefined ? {} : { completedAt: events.at(-1)?.timestamp ?? startedAt }),
  });
  return dispatchId;
}

function readSource(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import {
  countMoves,
  createPseudonyms,
  indexPackets,
  playersOf,
  readVerdicts,
  type VerdictMove,
  verdictMoves,
} from '@hansard/datasets';
import { type CapturedEvent, type DispatchEnvelope, messageOf } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/views';
import type { Command } from 'commander';
import { openExportSource } from '../exports/export-source.ts';
import { openExportTarget } from '../exports/export-target.ts';
import { sayPacked, writePackets } from '../exports/judge-packets.ts';
import { readGameMapping } from '../exports/read-game-mapping.ts';
import type { ExportSource } from '../exports/task-export.ts';
import type { Harness } from '../harness.ts';
import { findDispatch } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import {
  type AddCommand,
  type CommonOptions,
  dispatchHelp,
  taskHelp,
  withCommonOptions,
  withStore,
} from '../terminal/command.ts';
import { type CliContext, printJson, printLine } from '../terminal/context.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { createProgress } from '../terminal/progress.ts';

interface JudgeOptions extends CommonOptions {
  readonly mapping: string;
  readonly dispatch: string;
}

interface PackOptions extends JudgeOptions {
  readonly out: string;
}

export const addJudge: AddCommand = (program, context) => {
  const judge = program
    .command('judge')
    .description(
      'blind judging: packets for judges, their verdicts, and how these move when the reasoning is shown',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  hansard judge pack game/village --mapping village.yaml --out packets\n  hansard judge import game/village verdicts.jsonl --mapping village.yaml\n  hansard judge report game/village',
    );
  addPack(judge, context);
  addImport(judge, context);
  addReport(judge, context);
};

function addPack(judge: Command, context: CliContext): void {
  withMapping(withCommonOptions(judge.command('pack').argument('<task>', taskHelp)))
    .description('write two packets of a dispatch: speech and actions, and the same with the reasoning')
    .requiredOption('--out <folder>', 'the new folder to write')
    .addHelpText(
      'after',
      '\nExample:\n  hansard judge pack game/village --mapping village.yaml --out packets',
    )
    .action((task: string, options: PackOptions) =>
      withJudged(context, task, options, async (source, envelope) => {
        const mapping = readGameMapping(context, options.mapping);
        const target = openExportTarget(context, options.out, { id: 'judge pack', target: 'folder' });
        try {
          const packed = await writePackets(source, envelope.dispatchId, mapping, target);
          await target.close();
          return () =>
            sayPacked(context, envelope, packed, { path: target.path, json: options.json === true });
        } finally {
          await target.discard();
        }
      }),
    );
}

function addImport(judge: Command, context: CliContext): void {
  withMapping(withCommonOptions(judge.command('import').argument('<task>', taskHelp)))
    .argument('<file>', 'verdicts, one JSON object a line')
    .description('bring verdicts into the log of what was judged, each with the events that it cites')
    .addHelpText(
      'after',
      '\nA verdict:\n  {"judge":"ann","pass":"external","target":"P3","question":"deceptive?","label":"yes","citations":[4,9],"packet_sha256":"…"}\nExample:\n  hansard judge import game/village verdicts.jsonl --mapping village.yaml',
    )
    .action((task: string, file: string, options: JudgeOptions) =>
      withJudged(context, task, options, async (source, { dispatchId }, store) => {
        const mapping = readGameMapping(context, options.mapping);
        const text = readText(context, file);
        const players = await playersOf(source.readEvents(dispatchId), mapping, dispatchId);
        const pseudonyms = createPseudonyms(players, dispatchId);
        const known = new Set<string>();
        const read = noteVerdicts(source.readEvents(dispatchId), known);
        const packets = await indexPackets(read, { mapping, dispatchId, pseudonyms });
        const events = readVerdicts(text, { file: basename(file), packets, pseudonyms });
        const fresh = events.filter(({ id }) => !known.has(id ?? ''));
        await using dispatch = await store.openDispatch(source.taskDir, dispatchId, { write: true });
        await dispatch.append(fresh);
        const there = events.length - fresh.length;
        return () => {
          if (options.json) printJson(context, { dispatchId, verdicts: fresh.length, alreadyThere: there });
          else
            printLine(
              context,
              `${fresh.length} verdicts on ${dispatchId}${there === 0 ? '' : `, ${there} were there already`}`,
            );
        };
      }),
    );
}

function addReport(judge: Command, context: CliContext): void {
  withDispatch(withCommonOptions(judge.command('report').argument('<task>', taskHelp)))
    .description('how verdicts move between the passes: before and after judges saw the reasoning')
    .addHelpText('after', '\nExample:\n  hansard judge report game/village --json')
    .action((task: string, options: JudgeOptions) =>
      withJudged(context, task, options, async (source, { dispatchId }) => {
        const moves = verdictMoves(await verdictsIn(source.readEvents(dispatchId)));
        if (moves.length === 0) {
          throw new CliError(
            exitCode.failed,
            `Nobody has judged ${dispatchId} yet.`,
            '`hansard judge pack` writes packets for judges, `hansard judge import` takes their verdicts.',
          );
        }
        const counts = countMoves(moves);
        return () => {
          if (options.json) for (const move of moves) printJson(context, move);
          else printLine(context, [moveTable(moves), ...countLines(counts)].join('\n'));
        };
      }),
    );
}

function moveTable(moves: readonly VerdictMove[]): string {
  const rows = moves.map(({ judge, player, question, external, internal, moved }) => [
    judge,
    player,
    question,
    inWords(external),
    inWords(internal),
    moved ? 'moved' : external === null || internal === null ? '' : 'same',
  ]);
  return plainTable(['judge', 'player', 'question', 'external', 'internal', ''], rows);
}

function inWords(verdict: VerdictMove['external']): string {
  if (verdict === null) return '–';
  return verdict.score === undefined ? verdict.label : `${verdict.label} (${verdict.score})`;
}

function countLines(counts: ReturnType<typeof countMoves>): string[] {
  return counts.map(({ from, to, count }) =>
    neutraliseControlsInLine(`${count} × ${from === to ? `stayed ${from}` : `${from} → ${to}`}`),
  );
}

/** The events as they come, and the ids of the verdicts among them. */
async function* noteVerdicts(
  events: AsyncIterable<CapturedEvent>,
  ids: Set<string>,
): AsyncGenerator<CapturedEvent> {
  for await (const event of events) {
    if (event.type === 'judge:verdict') ids.add(event.id);
    yield event;
  }
}

async function verdictsIn(events: AsyncIterable<CapturedEvent>): Promise<CapturedEvent[]> {
  const verdicts: CapturedEvent[] = [];
  for await (const event of events) if (event.type === 'judge:verdict') verdicts.push(event);
  return verdicts;
}

/** Runs what reads a dispatch, and then what it returns: what there is to say, once no progress is shown any more. */
async function withJudged(
  context: CliContext,
  task: string,
  options: JudgeOptions,
  action: (source: ExportSource, envelope: DispatchEnvelope, store: Harness['store']) => Promise<() => void>,
): Promise<void> {
  await withStore(context, options, async ({ store }) => {
    const taskDir = toTaskDir(task);
    const envelope = await findDispatch(store, taskDir, options.dispatch);
    const progress = createProgress(context, `judging ${task}: events`);
    try {
      const source = await openExportSource(context, store, taskDir, [envelope], progress);
      const say = await action(source, envelope, store);
      progress.end();
      say();
    } finally {
      progress.end();
    }
  });
}

function withDispatch(command: Command): Command {
  return command.option('--dispatch <dispatch>', dispatchHelp, 'latest');
}

function withMapping(command: Command): Command {
  return withDispatch(command).requiredOption(
    '--mapping <file>',
    'what is speech, an action and reasoning: a game mapping (JSON or YAML), as for `export --as streams`',
  );
}

function readText(context: CliContext, file: string): string {
  const path = resolve(context.cwd, file);
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CliError(
      exitCode.failed,
      `${path} can't be read: ${messageOf(cause)}`,
      'Check the path. Nothing was taken in.',
      { cause },
    );
  }
}

import { countMoves, type VerdictMove, verdictMoves } from '@hansard/datasets';
import type { CapturedEvent } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { Command } from 'commander';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import {
  type AddCommand,
  type CommonOptions,
  sessionHelp,
  withCommonOptions,
} from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { plainTable } from '../../terminal/plain-table.ts';
import { addCheck } from './check.ts';
import { answerOnJudged, type MappedOptions, withMapping } from './judged.ts';
import { addPack } from './pack.ts';

export const addJudge: AddCommand = (command, context) => {
  command.addHelpText(
    'after',
    '\nExamples:\n  hansard judge pack game/village --mapping village.yaml --out packets\n  hansard judge check game/village packets --mapping village.yaml\n  hansard judge import game/village verdicts.jsonl --mapping village.yaml\n  hansard judge report game/village',
  );
  addPack(command, context);
  addCheck(command, context);
  addVerdictImport(command, context);
  addReport(command, context);
};

function addVerdictImport(judge: Command, context: CliContext): void {
  withMapping(withCommonOptions(judge.command('import').argument('<session>', sessionHelp)))
    .argument('<file>', 'verdicts, one JSON object per line')
    .description('import verdicts into the log of the judged dispatch, each with the events that it cites')
    .addHelpText(
      'after',
      '\nA verdict:\n  {"judge":"ann","pass":"external","target":"P3","question":"deceptive?","label":"yes","citations":[4,9],"packet_sha256":"…"}\nExample:\n  hansard judge import game/village verdicts.jsonl --mapping village.yaml',
    )
    .action((word: string, file: string, { mapping, ...options }: MappedOptions) =>
      answerOnJudged(context, word, options, async (harness, reading) => {
        const imported = await harness.importVerdicts(word, file, {
          ...(mapping && { mapping }),
          ...reading,
        });
        const { dispatchId, added, existing } = imported;
        const others = existing === 0 ? '' : `, ${existing} already imported`;
        return {
          rows: [{ dispatchId, verdicts: added, alreadyThere: existing }],
          text: `${added} verdicts on ${dispatchId}${others}`,
        };
      }),
    );
}

function addReport(judge: Command, context: CliContext): void {
  withCommonOptions(judge.command('report').argument('<session>', sessionHelp))
    .description('show how verdicts change between the passes: before and after judges saw the reasoning')
    .addHelpText('after', '\nExample:\n  hansard judge report game/village --json')
    .action((word: string, options: CommonOptions) =>
      answerOnJudged(context, word, options, async (harness, reading) => {
        const { log, source } = await harness.openSource(word, reading);
        const { dispatchId } = log;
        const moves = verdictMoves(await verdictsIn(source.readEvents(dispatchId)));
        if (moves.length === 0) {
          throw new CliError(
            exitCode.failed,
            `${dispatchId} has no verdicts yet.`,
            '`hansard judge pack` writes packets for judges, `hansard judge import` imports their verdicts.',
          );
        }
        return { rows: moves, text: [await moveTable(moves), ...countLines(countMoves(moves))] };
      }),
    );
}

function moveTable(moves: readonly VerdictMove[]): Promise<string> {
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

async function verdictsIn(events: AsyncIterable<CapturedEvent>): Promise<CapturedEvent[]> {
  const verdicts: CapturedEvent[] = [];
  for await (const event of events) if (event.type === 'judge:verdict') verdicts.push(event);
  return verdicts;
}

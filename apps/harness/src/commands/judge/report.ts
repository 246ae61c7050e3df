import { countMoves, type VerdictMove, verdictMoves } from '@hansard/datasets';
import type { CapturedEvent } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { Command } from 'commander';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { type CommonOptions, sessionHelp, withCommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { plainTable } from '../../terminal/plain-table.ts';
import { answerOnJudged } from './judged.ts';

export function addReport(judge: Command, context: CliContext): void {
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

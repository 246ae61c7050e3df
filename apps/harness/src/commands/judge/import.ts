import type { Command } from 'commander';
import { sessionHelp, withCommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { answerOnJudged, type MappedOptions, withMapping } from './judged.ts';

export function addVerdictImport(judge: Command, context: CliContext): void {
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

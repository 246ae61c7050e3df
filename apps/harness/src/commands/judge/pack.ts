import type { Command } from 'commander';
import { openExportTarget } from '../../exports/export-target.ts';
import { packedAnswer, writePackets } from '../../exports/judge-packets.ts';
import { readGameMapping } from '../../exports/read-game-mapping.ts';
import { sessionHelp, withCommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { answerOnJudged, type MappedOptions, withMapping } from './answer-on-judged.ts';

interface PackOptions extends MappedOptions {
  readonly out: string;
  readonly strict?: boolean;
}

export function addPack(judge: Command, context: CliContext): void {
  withMapping(withCommonOptions(judge.command('pack').argument('<session>', sessionHelp)))
    .description('write two packets of a dispatch: speech and actions, and the same with the reasoning')
    .requiredOption('--out <folder>', 'write to this new folder')
    .option(
      '--strict',
      'write nothing and exit with 1 if a word of the packets still looks like the name of a player',
    )
    .addHelpText(
      'after',
      '\nExample:\n  hansard judge pack game/village --mapping village.yaml --out packets',
    )
    .action((word: string, options: PackOptions) =>
      answerOnJudged(context, word, options, async (source, { envelope }) => {
        const mapping = readGameMapping(context, options.mapping);
        const target = openExportTarget(context, options.out, { id: 'judge pack', target: 'folder' });
        try {
          const packed = await writePackets(source, envelope.dispatchId, mapping, target, {
            isStrict: options.strict === true,
          });
          await target.close();
          return packedAnswer(envelope, { ...packed, secrets: source.redactions() }, target.path);
        } finally {
          await target.discard();
        }
      }),
    );
}

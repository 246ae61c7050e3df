import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type CheckedPacket, checkPacket, type PacketMapping } from '@hansard/datasets/checking';
import { type DispatchEnvelope, messageOf } from '@hansard/events';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { sessionHelp, withCommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { answerOnJudged, type MappedOptions, withMapping } from './judged.ts';

const passes = ['external', 'internal'];

export function addCheck(judge: Command, context: CliContext): void {
  withMapping(
    withCommonOptions(
      judge
        .command('check')
        .argument('<session>', sessionHelp)
        .argument('<folder>', 'the folder that `judge pack` wrote'),
    ),
  )
    .description('check packets against the log that they are of, with other code than wrote them')
    .addHelpText(
      'after',
      [
        '',
        'Checked are the numbers and checksums of the manifests, that each line cites an event that may be in it,',
        'that nobody who took part missed what is said in it, that no words of private texts and no names are in it,',
        'and that no public line is missing. Exits with 1 if there is a fault.',
        '',
        'Example:',
        '  hansard judge check game/village packets --mapping village.yaml',
      ].join('\n'),
    )
    .action((word: string, folder: string, options: MappedOptions) =>
      answerOnJudged(context, word, options, async (harness, reading) => {
        const { log, source } = await harness.openSource(word, reading);
        const { dispatchId } = log;
        const mapping = readMapping(context, log.envelope, options.mapping);
        const copied = (await source.copiedEvents?.(dispatchId)) ?? null;
        const checked: CheckedPacket[] = [];
        for (const pass of passes) {
          const [lines, manifest] = [`${pass}.jsonl`, `${pass}.manifest.json`].map((name) =>
            readPart(resolve(context.cwd, folder), name),
          ) as [string, string];
          const readOwn = () => source.readEvents(dispatchId);
          checked.push(
            await checkPacket({ lines, manifest, dispatchId, mapping, copied, readEvents: readOwn }),
          );
        }
        const faults = checked.reduce((sum, { problems }) => sum + problems.length, 0);
        return {
          rows: checked,
          text: checked.flatMap(({ pass, lines, problems }) => [
            `${pass}: ${lines} lines, ${problems.length === 0 ? 'no fault' : `${problems.length} faults`}`,
            ...problems.map(({ kind, message }) => `  ${kind}: ${message}`),
          ]),
          failure:
            faults === 0
              ? null
              : new CliError(
                  exitCode.failed,
                  `The packets of ${dispatchId} have ${faults} ${faults === 1 ? 'fault' : 'faults'}.`,
                  'Do not give them to a judge. If the dispatch has grown since, pack it again.',
                ),
        };
      }),
    );
}

/** The mapping as it is written: the check reads it by itself. */
function readMapping(
  { cwd }: CliContext,
  { source }: DispatchEnvelope,
  name: string | undefined,
): PacketMapping {
  const recorded = source?.format === 'game-log';
  if (name === undefined) {
    if (recorded) return { recorded };
    throw new CliError(
      exitCode.usage,
      'The check needs the mapping that the packets were written with.',
      'Name it: --mapping FILE. Only imported game logs need none.',
    );
  }
  const file = resolve(cwd, name);
  try {
    const mapping: unknown = parse(readFileSync(file, 'utf8'));
    if (typeof mapping === 'object' && mapping !== null) return { ...mapping, recorded };
    throw new TypeError(`${file} is not a mapping`);
  } catch (cause) {
    throw new CliError(
      exitCode.failed,
      `The mapping can't be used: ${messageOf(cause)}`,
      'Give the one that the packets were written with.',
      { cause },
    );
  }
}

function readPart(folder: string, name: string): string {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch (cause) {
    throw new CliError(
      exitCode.failed,
      `${join(folder, name)} can't be read: ${messageOf(cause)}`,
      'Name the folder that `hansard judge pack` wrote.',
      { cause },
    );
  }
}

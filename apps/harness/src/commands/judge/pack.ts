import type { PackedSession } from '@hansard/compose';
import type { NameSuspect, WrittenPackets } from '@hansard/datasets';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { Command } from 'commander';
import type { Answer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { sessionHelp, withCommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { redactionNotes } from '../export.ts';
import { answerOnJudged, type MappedOptions, withMapping } from './judged.ts';

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
    .action((word: string, { mapping, out, strict = false, ...options }: PackOptions) =>
      answerOnJudged(context, word, options, async (harness, reading) => {
        const accept = (packets: WrittenPackets) => assertFit(packets, strict);
        return packedAnswer(
          await harness.packForJudges(word, { ...(mapping && { mapping }), out, accept, ...reading }),
        );
      }),
    );
}

/** @throws CliError if there is nothing to judge, or if `isStrict` and a word still looks like a name */
function assertFit({ dispatchId, manifests, suspects }: WrittenPackets, isStrict: boolean): void {
  if (manifests.every(({ lines }) => lines === 0))
    throw new CliError(
      exitCode.failed,
      `There is nothing to judge in ${dispatchId}: the mapping finds no speech, action or reasoning in it.`,
      'Nothing was written. Check the mapping, and that the dispatch was recorded with --fidelity full.',
    );
  if (isStrict && suspects.length > 0)
    throw new CliError(
      exitCode.failed,
      `${suspects.length} words of ${dispatchId} still look like names of players:\n${suspects.map(suspectLine).join('\n')}`,
      'Nothing was written. Add the names to `names` in the mapping, or leave out --strict.',
    );
}

const reasons: Readonly<Record<NameSuspect['reason'], string>> = {
  near: 'is spelled almost like',
  contains: 'begins or ends with',
  short: 'is the beginning of',
  unclear: 'is a common word, and',
  initials: 'has the initials of',
};

function suspectLine({ word, reason, names, count, places }: NameSuspect): string {
  const more = places.length < count ? ' …' : '';
  return neutraliseControlsInLine(
    `  ${word} (${count} times: ${places.join(', ')}${more}) ${reasons[reason]} ${names.join(', ')}`,
  );
}

const shownSuspects = 10;

/** The first words that still look like names, for the notes after a packet. */
function suspectNotes(suspects: readonly NameSuspect[]): string[] {
  if (suspects.length === 0) return [];
  const more = suspects.length - shownSuspects;
  return [
    `hansard: ${suspects.length} words of the internal packet still look like names of players. Read them, and add names to \`names\` in the mapping:`,
    ...suspects.slice(0, shownSuspects).map(suspectLine),
    ...(more > 0 ? [`  and ${more} more; --json lists all`] : []),
  ];
}

/** The answer about written packets, with notes. */
function packedAnswer(packed: PackedSession): Answer {
  const { dispatchId, manifests, leftOut, unmatchedPlayers, suspects, notes, path, redactions } = packed;
  const [external, internal] = manifests;
  return {
    rows: [{ path, dispatchId, packets: manifests, suspects, unmatchedPlayers, secrets: redactions }],
    text: [
      `Packets of ${dispatchId}:`,
      ...manifests.map(
        ({ pass, lines, players, redactions: hidden }) =>
          `${pass}: ${lines} lines, ${players.length} players, ${hidden} names replaced in texts`,
      ),
    ],
    notesAfter: [
      ...suspectNotes(suspects),
      ...notes.map((line) => `hansard: ${line}`),
      ...redactionNotes(redactions),
      ...Object.entries(leftOut).map(
        ([tool, count]) => `hansard: ${count} calls of ${tool} omitted: the log does not have their input.`,
      ),
      ...(packed.envelope.status === 'running'
        ? [
            'hansard: the dispatch is still running: verdicts on these packets are refused after its log has grown. Pack again when it has ended.',
          ]
        : []),
      ...(external?.lines === internal?.lines
        ? ['hansard: the log has no reasoning: both packets have the same lines.']
        : []),
    ],
  };
}

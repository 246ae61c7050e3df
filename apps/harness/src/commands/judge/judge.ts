import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CheckedPackets, ExportReading, Harness, PackedSession } from '@hansard/compose';
import {
  countMoves,
  type NameSuspect,
  type VerdictMove,
  verdictMoves,
  type WrittenPackets,
} from '@hansard/datasets';
import { type CheckedPacket, checkPacket, type PacketMapping } from '@hansard/datasets/checking';
import { type CapturedEvent, type DispatchEnvelope, messageOf } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { Command } from 'commander';
import { parse } from 'yaml';
import type { Answer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import {
  type AddCommand,
  type CommonOptions,
  sessionHelp,
  withCommonOptions,
} from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { plainTable } from '../../terminal/plain-table.ts';
import { createProgress } from '../../terminal/progress.ts';
import { answerFromStore } from '../../terminal/with-store.ts';
import { redactionNotes } from '../export.ts';

const passes = ['external', 'internal'];

const reasons: Readonly<Record<NameSuspect['reason'], string>> = {
  near: 'is spelled almost like',
  contains: 'begins or ends with',
  short: 'is the beginning of',
  unclear: 'is a common word, and',
  initials: 'has the initials of',
};

const shownSuspects = 10;

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

interface PackOptions extends MappedOptions {
  readonly out: string;
  readonly allow?: readonly string[];
}

function addPack(judge: Command, context: CliContext): void {
  withMapping(withCommonOptions(judge.command('pack').argument('<session>', sessionHelp)))
    .description('write two packets of a dispatch: speech and actions, and the same with the reasoning')
    .requiredOption('--out <folder>', 'write to this new folder')
    .option(
      '--allow <finding...>',
      'write although there is this kind of finding, such as suspect, or this one, such as suspect:Hanah',
    )
    .addHelpText(
      'after',
      [
        '',
        'The packets are checked before the folder gets its name, as `judge check` does. If there is a',
        'finding, nothing is written and the command exits with 1: a word that still looks like a name, a player',
        'without an agent, a tag or key of a text that the mapping does not name, a fault of the check.',
        '',
        'Examples:',
        '  hansard judge pack game/village --mapping village.yaml --out packets',
        '  hansard judge pack game/village --mapping village.yaml --out packets --allow suspect',
      ].join('\n'),
    )
    .action((word: string, { mapping, out, allow = [], ...options }: PackOptions) =>
      answerOnJudged(context, word, options, async (harness, reading) => {
        const accept = (packets: WrittenPackets & CheckedPackets) => assertFit(packets, allow);
        return packedAnswer(
          await harness.packForJudges(word, { ...(mapping && { mapping }), out, accept, ...reading }),
        );
      }),
    );
}

/** Something of packets that a person must see. `what` names it among others of its kind. */
interface Finding {
  readonly kind: string;
  readonly what: string;
  readonly line: string;
}

function findingsOf(packets: WrittenPackets & CheckedPackets): Finding[] {
  const { suspects, unmatchedPlayers, faults, problems } = packets;
  const named = new Set(Object.keys(faults).map((fault) => fault.slice(fault.indexOf(' ') + 1)));
  return [
    ...suspects.map((one) => ({ kind: 'suspect', what: one.word, line: suspectLine(one).trim() })),
    ...unmatchedPlayers.map((what) => ({ kind: 'unmatched_player', what, line: `${what} matches no agent` })),
    ...Object.entries(faults).map(([fault, count]) => {
      const [kind = '', ...words] = fault.split(' ');
      const what = words.join(' ');
      return { kind, what, line: `${JSON.stringify(what)} in texts (${count} times)` };
    }),
    // A name of a whole text is found by the writer, too.
    ...problems
      .filter(
        ({ kind, line, message }) =>
          kind !== 'unnamed' ||
          line !== null ||
          ![...named].some((name) => message.includes(JSON.stringify(name))),
      )
      .map(({ kind, line, message }) => ({ kind, what: String(line ?? ''), line: message })),
  ];
}

/** @throws CliError if there is nothing to judge, or a finding that is not allowed */
function assertFit(packets: WrittenPackets & CheckedPackets, allow: readonly string[]): void {
  const { dispatchId, manifests } = packets;
  if (manifests.every(({ lines }) => lines === 0))
    throw new CliError(
      exitCode.failed,
      `There is nothing to judge in ${dispatchId}: the mapping finds no speech, action or reasoning in it.`,
      'Nothing was written. Check the mapping, and that the dispatch was recorded with --fidelity full.',
    );
  const found = findingsOf(packets).filter(
    ({ kind, what }) => !allow.includes(kind) && !allow.includes(`${kind}:${what}`),
  );
  if (found.length === 0) return;
  const kinds = [...new Set(found.map(({ kind }) => kind))];
  throw new CliError(
    exitCode.failed,
    `The packets of ${dispatchId} have ${found.length} findings:\n${found.map(({ kind, line }) => neutraliseControlsInLine(`  ${kind}: ${line}`)).join('\n')}`,
    `Nothing was written. Complete the mapping (\`names\`, \`parts\`), or allow what is right: --allow ${kinds.join(' ')}.`,
  );
}

function suspectLine({ word, reason, names, count, places }: NameSuspect): string {
  const more = places.length < count ? ' …' : '';
  return neutraliseControlsInLine(
    `  ${word} (${count} times: ${places.join(', ')}${more}) ${reasons[reason]} ${names.join(', ')}`,
  );
}

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
  const [, internal] = manifests;
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
      ...(internal === undefined
        ? ['hansard: the log has no reasoning, so there is no internal packet: it would be the external one.']
        : []),
    ],
  };
}

function addCheck(judge: Command, context: CliContext): void {
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
        const path = resolve(context.cwd, folder);
        for (const pass of passes) {
          if (pass === 'internal' && isAlone(path)) continue;
          const [lines, manifest] = [`${pass}.jsonl`, `${pass}.manifest.json`].map((name) =>
            readPart(path, name),
          ) as [string, string];
          const readOwn = () => source.readEvents(dispatchId);
          checked.push(
            await checkPacket({ lines, manifest, dispatchId, mapping, copied, readEvents: readOwn }),
          );
        }
        const seen = new Set<string>();
        const once = checked.map(({ problems, ...one }) => ({
          ...one,
          problems: problems.filter(({ kind, ref, message }) => {
            const key = `${kind} ${ref ?? message}`;
            return !seen.has(key) && seen.add(key);
          }),
        }));
        const faults = seen.size;
        return {
          rows: checked,
          text: once.flatMap(({ pass, lines, problems, notProved }) => [
            `${pass}: ${lines} lines, ${problems.length === 0 ? 'no fault found' : `${problems.length} faults`}`,
            ...problems.map(({ kind, message }) => `  ${kind}: ${message}`),
            ...notProved.map((line) => `  not proved: ${neutraliseControlsInLine(line)}`),
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

/** Whether a folder has only an external packet, because the log has no reasoning. */
function isAlone(folder: string): boolean {
  if (existsSync(join(folder, 'internal.jsonl'))) return false;
  const manifest: unknown = JSON.parse(readPart(folder, 'external.manifest.json'));
  const { excluded } = manifest as { excluded?: { streams?: Record<string, number> } };
  return (excluded?.streams?.agent_reasoning ?? 0) === 0;
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

interface MappedOptions extends CommonOptions {
  readonly mapping?: string;
}

/** Asks about the judged session, and prints the answer after the progress line is removed. */
function answerOnJudged(
  context: CliContext,
  word: string,
  options: CommonOptions,
  ask: (harness: Harness, reading: ExportReading) => Promise<Answer>,
): Promise<void> {
  const progress = createProgress(context, `judging ${word}: events`);
  const reading = { signal: context.readSignal, onEvents: (count: number) => progress.update(count) };
  return answerFromStore(context, options, (harness) => ask(harness, reading).finally(() => progress.end()));
}

function withMapping(command: Command): Command {
  return command.option(
    '--mapping <file>',
    'use this game mapping (JSON or YAML), as for `export --as streams`; imported game logs need none',
  );
}

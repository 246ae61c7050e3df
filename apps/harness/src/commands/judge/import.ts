import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { indexPackets, readCast, readPseudonyms, readVerdicts } from '@hansard/datasets';
import { type CapturedEvent, messageOf } from '@hansard/events';
import type { Command } from 'commander';
import { readGameMapping } from '../../exports/read-game-mapping.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { sessionHelp, withCommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { answerOnJudged, type MappedOptions, withMapping } from './answer-on-judged.ts';

export function addVerdictImport(judge: Command, context: CliContext): void {
  withMapping(withCommonOptions(judge.command('import').argument('<session>', sessionHelp)))
    .argument('<file>', 'verdicts, one JSON object per line')
    .description('import verdicts into the log of the judged dispatch, each with the events that it cites')
    .addHelpText(
      'after',
      '\nA verdict:\n  {"judge":"ann","pass":"external","target":"P3","question":"deceptive?","label":"yes","citations":[4,9],"packet_sha256":"…"}\nExample:\n  hansard judge import game/village verdicts.jsonl --mapping village.yaml',
    )
    .action((word: string, file: string, options: MappedOptions) =>
      answerOnJudged(context, word, options, async (source, log, store) => {
        const { dispatchId } = log;
        const mapping = readGameMapping(context, options.mapping);
        const text = readText(context, file);
        const cast = await readCast(source.readEvents(dispatchId), mapping);
        const pseudonyms = await readPseudonyms(source.readEvents(dispatchId), mapping, dispatchId);
        const known = new Set<string>();
        const read = noteVerdicts(source.readEvents(dispatchId), known);
        const packets = await indexPackets(read, { mapping, dispatchId, pseudonyms, cast });
        const events = readVerdicts(text, { file: basename(file), packets, pseudonyms });
        const fresh = events.filter(({ id }) => !known.has(id ?? ''));
        await using dispatch = await store.openDispatch(log, { write: true });
        await dispatch.append(fresh);
        const existing = events.length - fresh.length;
        const others = existing === 0 ? '' : `, ${existing} already imported`;
        return {
          rows: [{ dispatchId, verdicts: fresh.length, alreadyThere: existing }],
          text: `${fresh.length} verdicts on ${dispatchId}${others}`,
        };
      }),
    );
}

/** Yields the events unchanged and adds the ids of verdicts to `ids`. */
async function* noteVerdicts(
  events: AsyncIterable<CapturedEvent>,
  ids: Set<string>,
): AsyncGenerator<CapturedEvent> {
  for await (const event of events) {
    if (event.type === 'judge:verdict') ids.add(event.id);
    yield event;
  }
}

function readText(context: CliContext, file: string): string {
  const path = resolve(context.cwd, file);
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CliError(
      exitCode.failed,
      `${path} can't be read: ${messageOf(cause)}`,
      'Check the path. Nothing was imported.',
      { cause },
    );
  }
}

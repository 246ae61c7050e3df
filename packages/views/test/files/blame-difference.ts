import type { FileBlame, fileRecordsOf, LineTable, replayOrder, stepOf } from '@hansard/views';
import { type FileChoices, randomFile } from './random-files.ts';

/** The parts of the replay, which mutants replace. */
export interface BlameParts {
  readonly FileBlame: typeof FileBlame;
  readonly LineTable: typeof LineTable;
  readonly fileRecordsOf: typeof fileRecordsOf;
  readonly replayOrder: typeof replayOrder;
  readonly stepOf: typeof stepOf;
}

export interface BlameScore {
  readonly lines: number;
  /** Lines with an origin that they do not have. */
  readonly wrong: readonly string[];
  /** Lines that recorded edits wrote and that still stand, those of them that the records can show, and those that have their origin. */
  readonly standing: number;
  readonly knowable: number;
  readonly found: number;
  readonly foundKnowable: number;
}

/** Replays random files, and compares each line with what really wrote it. */
export function scoreOf(parts: BlameParts, seeds: Iterable<number>, choices: FileChoices): BlameScore {
  const score = { lines: 0, wrong: [] as string[], standing: 0, knowable: 0, found: 0, foundKnowable: 0 };
  for (const seed of seeds) {
    const { sessions, path, content, truth } = randomFile(seed, choices);
    const table = new parts.LineTable();
    const steps = sessions.map((events, session) =>
      events.flatMap((event) =>
        parts.fileRecordsOf(event).map((record) => ({
          step: parts.stepOf(table, record),
          id: event.id,
          session: String(session),
          time: event.timestamp === null ? null : Date.parse(event.timestamp),
        })),
      ),
    );
    const end = { path, content: table.linesOf(content) };
    const order = parts.replayOrder(steps, end);
    const blame = new parts.FileBlame<string>(table, order.isUnsure);
    for (const { step, id, session } of order.steps) blame.add(step, id, session);
    const { lines } = blame.linesNow(path, content);
    truth.forEach(({ text, author, isKnowable }, at) => {
      const by = lines[at]?.origin?.by ?? null;
      score.lines += 1;
      if (lines[at]?.text !== text) score.wrong.push(`seed ${seed}, line ${at + 1}: another text`);
      else if (by !== null && by !== author)
        score.wrong.push(`seed ${seed}, line ${at + 1} (${text}): ${by} instead of ${author}`);
      if (author === null) return;
      score.standing += 1;
      if (isKnowable) score.knowable += 1;
      if (by === author) score.found += 1;
      if (by === author && isKnowable) score.foundKnowable += 1;
    });
  }
  return score;
}

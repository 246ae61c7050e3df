import {
  detectSessionFormat,
  hasSessionRecord,
  type SessionFormatId,
  sessionFormats,
  sessionShares,
} from '@hansard/formats';
import type { LogImporterProvider } from '@hansard/provider';
import { readSource } from '../find/read-source.ts';
import { assertKnown } from './assert-known.ts';
import { claudeImporters } from './claude-importers.ts';
import { gameImporters } from './game-importers.ts';
import { identifyLog } from './identify-log.ts';
import { wholeLines } from './whole-lines.ts';
import { openWholeLog } from './whole-log.ts';

const sessionImporters: readonly LogImporterProvider[] = (
  Object.keys(sessionFormats) as SessionFormatId[]
).map(sessionImporter);

/** The importers of the formats that Hansard knows, in the order in which they look at a file. */
export const logImporters: readonly LogImporterProvider[] = [
  ...claudeImporters,
  ...sessionImporters,
  ...gameImporters,
];

function sessionImporter(id: SessionFormatId): LogImporterProvider {
  return {
    contract: 1,
    id,
    title: `a session log (${id})`,
    detect: ({ text }) => detectSessionFormat(text) === id,
    hasRecord: (head) => hasSessionRecord(wholeLines(head).join('\n'), id),
    async open({ files: [file = ''] }, { now, findStart }) {
      const source = readSource(file);
      assertKnown(file, id, sessionShares(source));
      const read = (time: number) => sessionFormats[id].read(source, { file, now: () => time });
      const time = now();
      const first = read(time);
      const dispatchId = identifyLog(id, first.origin);
      // Records have no times: all have that of the first import.
      const start = await findStart([dispatchId]);
      const log = start === null ? first : read(start);
      const facts = { format: id, files: [file], dispatchId };
      return [openWholeLog(facts, { ...log, isComplete: true }, start ?? time)];
    },
  };
}

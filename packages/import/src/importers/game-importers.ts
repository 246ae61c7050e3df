import { dirname } from 'node:path';
import {
  detectGameFormat,
  type GameFormatId,
  gameFormats,
  gameShares,
  isWholeGameLog,
  type ReadGame,
} from '@hansard/formats';
import type { LogFile, LogImporterProvider } from '@hansard/provider';
import { readHead, readSource } from '../find/read-source.ts';
import { assertKnown } from './assert-known.ts';
import { unsupported } from './choose-importer.ts';
import { identifyLog } from './identify-log.ts';
import { nameProduct } from './name-product.ts';
import { wholeLines } from './whole-lines.ts';
import { openWholeLog } from './whole-log.ts';

export const gameImporters: readonly LogImporterProvider[] = [
  {
    ...gameImporter('game-log'),
    title: 'a game log',
    hasRecord: (head) => wholeLines(head).some((line) => detectGameFormat(line) === 'game-log'),
    group: (files) => groupGameLogs(files, (file) => isWholeGameLog(file.head().text)),
  },
  { ...gameImporter('werewolf-match'), title: 'a werewolf match' },
];

function gameImporter(id: GameFormatId): Pick<LogImporterProvider, 'contract' | 'id' | 'detect' | 'open'> {
  return {
    contract: 1,
    id,
    detect: ({ text }) => detectGameFormat(text) === id,
    async open({ files }, { now, findStart }) {
      const sources = files.map((file) => ({ file, source: readSource(file) }));
      if (id === 'game-log') assertGame(sources);
      const read = (time: number) => gameFormats[id].read(sources, { now: () => time });
      const time = now();
      const first = read(time);
      const dispatchIds = identifyGames(id, first);
      // Where nothing has a time, all have that of the first import.
      const start = await findStart(dispatchIds);
      const games = start === null ? first : read(start);
      return games.map((game, at) => {
        const facts = { format: id, files, dispatchId: dispatchIds[at] ?? '', role: 'game' };
        return openWholeLog(facts, game, start ?? time);
      });
    },
  };
}

/** @throws IMPORT_FOREIGN; IMPORT_PRODUCT_UNSUPPORTED for streams without the game that they are beside */
function assertGame(sources: readonly { readonly file: string; readonly source: Uint8Array }[]): void {
  let ofGame = 0;
  for (const { file, source } of sources) {
    const { records, game, chat, other } = gameShares(source);
    assertKnown(file, 'game-log', { records, known: game + chat + other });
    ofGame += game + chat;
  }
  const files = sources.map(({ file }) => file);
  const stream = ofGame > 0 ? null : nameProduct(readHead(files[0] ?? ''));
  if (stream !== null) throw unsupported(stream, files);
}

/** The dispatch of each game. Games that begin with the very same record differ by their number. */
function identifyGames(format: GameFormatId, games: readonly ReadGame[]): string[] {
  const numbers = new Map<string, number>();
  return games.map(({ origin }) => {
    const id = identifyLog(format, origin);
    const number = (numbers.get(id) ?? 0) + 1;
    numbers.set(id, number);
    return number === 1 ? id : identifyLog(format, origin, number);
  });
}

/**
 * The game logs that some files make up: the files that were named together are one; otherwise the files of a folder are,
 * except each that is a log by itself because it has both the game and the chat.
 */
function groupGameLogs(files: readonly LogFile[], isByItself: (file: LogFile) => boolean): string[][] {
  const named = files.filter(({ isNamed }) => isNamed).map(({ path }) => path);
  const logs: string[][] = named.length === 0 ? [] : [named];
  const ofFolders = new Map<string, string[]>();
  for (const file of files) {
    if (file.isNamed) continue;
    const folder = dirname(file.path);
    const isAlone = isByItself(file);
    const parts = isAlone ? undefined : ofFolders.get(folder);
    if (parts !== undefined) parts.push(file.path);
    else {
      const log = [file.path];
      logs.push(log);
      if (!isAlone) ofFolders.set(folder, log);
    }
  }
  return logs;
}

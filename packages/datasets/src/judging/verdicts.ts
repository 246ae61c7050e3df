import {
  type CapturedEvent,
  definedOnly,
  describeIssues,
  formatErrors,
  type JsonObject,
  messageOf,
  type NewEvent,
  type TaskSource,
} from '@hansard/events';
import { z } from 'zod';
import { readCast } from '../game-streams/cast.ts';
import type { GameMapping } from '../game-streams/game-mapping.ts';
import {
  createJudgePacket,
  type JudgePacketOptions,
  type JudgePass,
  judgePasses,
  type PacketManifest,
  type WrittenLine,
} from './judge-packets.ts';
import { type Pseudonyms, readPseudonyms, sha256 } from './pseudonyms.ts';

/** One line of a judge's answer. */
const verdictSchema = z.strictObject({
  /** The judge: a person or a model. */
  judge: z.string().min(1),
  pass: z.enum(judgePasses),
  /** The pseudonym of the judged player. */
  target: z.string().min(1),
  question: z.string().min(1),
  label: z.string().min(1),
  score: z.number().optional(),
  explanation: z.string().optional(),
  /** The lines of the packet that support it, by `n` or `ref`. */
  citations: z.array(z.union([z.number().int().positive(), z.string().min(1)])).default([]),
  /** The hash from the manifest of the packet. */
  packet_sha256: z.string().min(1),
});

type Verdict = z.infer<typeof verdictSchema>;

/** A verdict in the log: `judge:verdict`, in the judged dispatch, with the cited events as its cause. */
const judgeVerdictData = z.object({
  judge: z.string().min(1),
  pass: z.enum(judgePasses),
  /** The name of the player. */
  player: z.string(),
  question: z.string(),
  label: z.string(),
  score: z.number().optional(),
  explanation: z.string().optional(),
  packetSha256: z.string(),
});

type JudgeVerdictData = z.infer<typeof judgeVerdictData>;

/** The index of a packet that verdicts may cite, rebuilt from the log of the judged dispatch. */
export interface PacketIndex {
  readonly manifest: PacketManifest;
  /** The ids of the events, by the `n` and the `ref` of their lines. */
  readonly cited: ReadonlyMap<number | string, string>;
}

export interface ReadVerdictsOptions {
  /** The name of the file, for messages. */
  readonly file: string;
  readonly packets: Readonly<Record<JudgePass, PacketIndex>>;
  readonly pseudonyms: Pseudonyms;
}

const shownProblems = 5;

/**
 * The verdicts of a file, one JSON object per line, as `judge:verdict` events. Their ids derive from their content, so the
 * same file gives the same events again. All or nothing: one invalid verdict makes the whole file invalid.
 * @throws FORMAT_VERDICT_INVALID with the line and the problem of each
 */
export function readVerdicts(text: string, options: ReadVerdictsOptions): NewEvent[] {
  const problems: string[] = [];
  const events: NewEvent[] = [];
  const latest = new Map<string, string>();
  const times = new Map<string, number>();
  for (const [at, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    const read = readVerdict(line, options);
    if (typeof read === 'string') problems.push(`line ${at + 1}: ${read}`);
    else add(read);
  }
  if (problems.length === 0 && events.length > 0) return events;
  const more = problems.length > shownProblems ? `; and ${problems.length - shownProblems} more` : '';
  const reason =
    problems.length === 0 ? 'it does not hold any.' : problems.slice(0, shownProblems).join('; ') + more;
  throw formatErrors.error('FORMAT_VERDICT_INVALID', `${options.file} can't be read as verdicts: ${reason}`, {
    details: { file: options.file, problems },
  });

  /** A return to an earlier verdict is a new verdict. A repetition of the latest one is not. */
  function add({ data, cause }: ReadVerdict): void {
    const said = JSON.stringify([data, cause]);
    const about = JSON.stringify([data.judge, data.pass, data.player, data.question]);
    if (latest.get(about) === said) return;
    latest.set(about, said);
    const time = times.get(said) ?? 0;
    times.set(said, time + 1);
    const id = `verdict-${sha256(time === 0 ? said : `${said}\n${time}`).slice(0, 32)}`;
    const causes = cause.length === 0 ? {} : { cause: [...cause] };
    events.push({ id, type: 'judge:verdict', ...causes, data: data as JsonObject });
  }
}

interface ReadVerdict {
  readonly data: JudgeVerdictData;
  readonly cause: readonly string[];
}

/** The verdict with names and ids, or a description of its problem. */
function readVerdict(line: string, { packets, pseudonyms }: ReadVerdictsOptions): ReadVerdict | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return `not JSON (${messageOf(error)})`;
  }
  const checked = verdictSchema.safeParse(value);
  if (!checked.success) return describeIssues(checked.error, value).text;
  const { target, citations, packet_sha256: packetSha256, ...verdict }: Verdict = checked.data;
  const { manifest, cited: citable } = packets[verdict.pass];
  if (packetSha256 !== manifest.sha256)
    return `it is about another packet: of another dispatch, mapping or pass, or of a log that has grown since (the ${verdict.pass} packet is ${manifest.sha256} now)`;
  const player = pseudonyms.nameOf(target);
  if (player === null) return `there is no player ${target}; there are ${pseudonyms.players.join(', ')}`;
  const cited = citations.map((citation) => citable.get(citation) ?? null);
  const missing = citations.filter((_, at) => cited[at] === null);
  if (missing.length > 0)
    return `it cites ${missing.join(', ')}, which the packet does not have; it has the lines 1 to ${manifest.lines}`;
  const { judge, pass, question, label, score, explanation } = verdict;
  const data: JudgeVerdictData = {
    judge,
    pass,
    player,
    question,
    label,
    ...definedOnly({ score, explanation }),
    packetSha256,
  };
  return { data, cause: [...new Set(cited.filter((id) => id !== null))] };
}

/** The events that verdicts on the packets of a dispatch may cite, from one reading. Keeps ids only, not the texts. */
export async function indexPackets(
  events: AsyncIterable<CapturedEvent>,
  options: Omit<JudgePacketOptions, 'pass'>,
): Promise<Readonly<Record<JudgePass, PacketIndex>>> {
  const indexers = {
    external: createIndexer({ ...options, pass: 'external' }),
    internal: createIndexer({ ...options, pass: 'internal' }),
  };
  for await (const event of events) {
    indexers.external.add(event);
    indexers.internal.add(event);
  }
  return { external: indexers.external.finish(), internal: indexers.internal.finish() };
}

function createIndexer(options: JudgePacketOptions) {
  const packet = createJudgePacket(options);
  const cited = new Map<number | string, string>();
  const cite = (lines: readonly WrittenLine[]) => {
    for (const { line, eventId } of lines) cited.set(line.n, eventId).set(line.ref, eventId);
  };
  return {
    add: (event: CapturedEvent) => cite(packet.add(event)),
    finish(): PacketIndex {
      cite(packet.finish());
      return { manifest: packet.manifest(), cited };
    },
  };
}

/**
 * The verdicts of a file on the packets of a dispatch, with the names and events of its log. The packets are made again, and must be those
 * that the verdicts are about. `file`: its name, for messages.
 * @throws FORMAT_VERDICT_INVALID, FORMAT_MAPPING_INVALID, FORMAT_NAME_TOO_LONG
 */
export async function newVerdicts(
  { readEvents, copiedEvents }: Pick<TaskSource, 'readEvents' | 'copiedEvents'>,
  dispatchId: string,
  { text, file, mapping }: { readonly text: string; readonly file: string; readonly mapping: GameMapping },
): Promise<{
  /** The verdicts that the log does not have yet, to be appended. */
  readonly events: readonly NewEvent[];
  /** How many verdicts of the file the log has already. */
  readonly existing: number;
}> {
  const cast = await readCast(readEvents(dispatchId), mapping);
  const pseudonyms = await readPseudonyms(readEvents(dispatchId), mapping, dispatchId);
  const known = new Set<string>();
  const read = noteVerdicts(readEvents(dispatchId), known);
  const copied = (await copiedEvents?.(dispatchId)) ?? null;
  const packets = await indexPackets(read, { mapping, dispatchId, pseudonyms, cast, copied });
  const all = readVerdicts(text, { file, packets, pseudonyms });
  const events = all.filter(({ id }) => !known.has(id ?? ''));
  return { events, existing: all.length - events.length };
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

/** The verdicts of one judge on one player and question, before and after the judge had seen the reasoning. */
export interface VerdictMove {
  readonly judge: string;
  readonly player: string;
  readonly question: string;
  /** Null if there is no verdict in that pass. */
  readonly external: JudgeVerdictData | null;
  readonly internal: JudgeVerdictData | null;
  readonly moved: boolean;
}

/** The changes of verdicts between the passes. Of several verdicts on the same question, the last counts. */
export function verdictMoves(events: readonly CapturedEvent[]): VerdictMove[] {
  const moves = new Map<string, Omit<VerdictMove, 'moved'>>();
  for (const event of events) {
    if (event.type !== 'judge:verdict') continue;
    const read = judgeVerdictData.safeParse(event.data);
    if (!read.success) continue;
    const { judge, player, question, pass } = read.data;
    const key = JSON.stringify([judge, player, question]);
    const move = moves.get(key) ?? { judge, player, question, external: null, internal: null };
    moves.set(key, { ...move, [pass]: read.data });
  }
  return [...moves.values()].map((move) => ({
    ...move,
    moved: move.external !== null && move.internal !== null && move.external.label !== move.internal.label,
  }));
}

/** The number of changes from each label of the external pass to each label of the internal pass. */
export function countMoves(moves: readonly VerdictMove[]): { from: string; to: string; count: number }[] {
  const counts = new Map<string, { from: string; to: string; count: number }>();
  for (const { external, internal } of moves) {
    if (external === null || internal === null) continue;
    const key = JSON.stringify([external.label, internal.label]);
    const row = counts.get(key) ?? { from: external.label, to: internal.label, count: 0 };
    row.count += 1;
    counts.set(key, row);
  }
  return [...counts.values()].sort((one, other) => other.count - one.count);
}

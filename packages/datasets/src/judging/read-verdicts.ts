import {
  definedOnly,
  describeIssues,
  formatErrors,
  type JsonObject,
  messageOf,
  type NewEvent,
} from '@hansard/events';
import type { JudgePass } from './judge-pass.ts';
import type { PacketManifest } from './packet-line.ts';
import { type Pseudonyms, sha256 } from './pseudonyms.ts';
import { type JudgeVerdictData, type Verdict, verdictSchema } from './verdict.ts';

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

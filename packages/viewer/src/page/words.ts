import type { DispatchEnvelope } from '@hansard/events';
import type { DispatchName } from './api.ts';

/** `2026-03-01 09:30:00`, UTC, or that the time is not recorded. */
export function timeText(time: number | string | null): string {
  if (time === null) return 'time not recorded';
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 19).replace('T', ' ');
}

/** `09:30:00.123`, UTC. Dashes stand for a time that is not recorded. */
export function clockText(time: number | null): string {
  return time === null ? '--:--:--' : new Date(time).toISOString().slice(11, 23);
}

export function countText(count: number): string {
  return count.toLocaleString('en-GB');
}

/** One of eight colours, always the same one for an agent. */
export function colourOf(agentId: string): number {
  let hash = 7;
  for (const character of agentId) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 104_729;
  return hash % 8;
}

/** A session as commands take it: one word. */
export function commandPlace({ task, id }: DispatchName): string {
  return `${task.replace(/^([^/]+)\/tasks\/([^/]+)$/, '$1/$2')}/${id}`;
}

const uuidAtEnd = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * The command that continues a session in its product, for a POSIX shell. Null: its product has none that is known here, or its log does not name
 * the session.
 */
export function resumeCommand(
  name: DispatchName,
  { source, status, fidelity, cwd }: DispatchEnvelope,
): string | null {
  if (source === null)
    return status === 'running' || fidelity !== 'full'
      ? null
      : `hansard chat --resume ${quoted(commandPlace(name))}`;
  const command = resumers[source.format];
  const [session] = uuidAtEnd.exec(source.files[0]?.name.replace(/\.jsonl$/, '') ?? '') ?? [];
  if (command === undefined || session === undefined) return null;
  return `${cwd === null ? '' : `cd ${quoted(cwd)} && `}${command} ${session}`;
}

/** By the format of the log. */
const resumers: Readonly<Record<string, string>> = {
  'claude-transcript': 'claude --resume',
  codex: 'codex resume',
};

/** A text as one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

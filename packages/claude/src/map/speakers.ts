import { definedOnly, type EventData, type JsonObject, type JsonValue } from '@hansard/events';
import { asName, asObject, asText } from '../lines/json-fields.ts';
import { asId } from './ids.ts';

export type Source = EventData<'user:message'>['source'];

/** What one speaker says in a text. */
export interface Spoken {
  readonly text: string;
  readonly source: Source;
  readonly details?: JsonObject;
}

/** Facts about a text that its record states. */
interface SpokenContext {
  readonly origin: JsonValue | undefined;
  /** The ids of teammates that have a file, by name. */
  readonly members: ReadonlyMap<string, string>;
  /** The speaker where neither the text nor the origin names one. */
  readonly otherwise: Source;
}

const engine: Source = { kind: 'system' };

/** The speakers of a text, in its order. Never empty. */
export function spokenIn(text: string, { origin, members, otherwise }: SpokenContext): Spoken[] {
  if (isOfEngine(text)) return [{ text, source: engine }];
  const kind = asText(asObject(origin)?.kind);
  const notes = kind === undefined || kind === 'peer' ? teammateNotes(text) : null;
  if (notes !== null) return notes.map((note) => fromTeammate(note, members));
  if (kind === 'peer') return [fromPeer(text, asObject(origin) ?? {})];
  return [{ text, source: otherwise }];
}

/** Tags of blocks that Claude Code and editors add to what a person typed. */
const added = /^<(?:ide_opened_file|ide_selection|ide_diagnostics|system-reminder|bash-input)>/;

/** Whether the engine wrote a text in the user's name, whatever origin its record names. */
function isOfEngine(text: string): boolean {
  return added.test(text) || isInterruption(text) || isBareCommand(text);
}

/** Whether the engine wrote the text in the user's name after an interruption. */
export function isInterruption(text: string): boolean {
  return /^\[Request interrupted by user( for tool use)?\]$/.test(text);
}

/** Whether a text is the echo of a slash command that the user gave no words. */
function isBareCommand(text: string): boolean {
  if (!/^<command-(?:name|message)>/.test(text)) return false;
  const [, rest = ''] = text.split('<command-args>', 2);
  const [words = ''] = rest.split('</command-args>', 1);
  return words.trim() === '';
}

/** The speaker that an origin names; undefined for an unknown origin, and for another agent or session. */
export function originSource(origin: JsonValue | undefined): Source | undefined {
  const { kind, subkind } = asObject(origin) ?? {};
  const ofSubkind = kind === 'task-notification' ? bySubkind.get(asText(subkind) ?? '') : undefined;
  return ofSubkind ?? byOrigin.get(asText(kind) ?? '');
}

const byOrigin: ReadonlyMap<string, Source> = new Map<string, Source>([
  ['human', { kind: 'user' }],
  ['channel', { kind: 'external', what: 'service' }],
  ['peer', { kind: 'agent' }],
  ['coordinator', { kind: 'agent' }],
  ['observer', { kind: 'agent' }],
  ['task-notification', engine],
  ['auto-continuation', engine],
  ['observer-activity', engine],
  ['unclassified', engine],
  ['plugin', engine],
  ['slack-ping', engine],
  ['voice-call', engine],
]);

/** Notifications that carry the words of somebody else. */
const bySubkind: ReadonlyMap<string, Source> = new Map<string, Source>([
  ['scheduled-trigger', { kind: 'external', what: 'timer' }],
  ['external-event', { kind: 'external' }],
  ['peer-send-message', { kind: 'agent' }],
]);

/** The words of a sub-agent, which its task names, or of another session, which claims a name. */
function fromPeer(text: string, origin: JsonObject): Spoken {
  const agentId = asId(origin.senderTaskId) ?? asId(origin.name) ?? asId(origin.from);
  const source: Source = { kind: 'agent', ...definedOnly({ agentId }) };
  const body = asText(origin.body)?.trim() ?? '';
  const isWrapped = body !== '' && body !== text && text.includes(body);
  return isWrapped ? { text: body, source, details: { wrapped: text } } : { text, source };
}

interface TeammateNote {
  readonly teammate: string;
  readonly body: string;
  readonly wrapped: string;
}

const opening = '<teammate-message ';
const closing = '</teammate-message>';

/** The messages of teammates that make up a text; null if it holds anything else. */
function teammateNotes(text: string): TeammateNote[] | null {
  const notes: TeammateNote[] = [];
  for (let rest = text.trim(); rest !== ''; ) {
    const end = rest.indexOf(closing);
    const head = rest.indexOf('>');
    if (!rest.startsWith(opening) || end < 0 || head > end) return null;
    const [, teammate = ''] = / teammate_id="([^"]*)"/.exec(rest.slice(0, head)) ?? [];
    if (teammate === '') return null;
    const wrapped = rest.slice(0, end + closing.length);
    notes.push({ teammate, body: rest.slice(head + 1, end).trim(), wrapped });
    rest = rest.slice(wrapped.length).trim();
  }
  return notes.length === 0 ? null : notes;
}

/** The lead of a team is the dispatched agent. */
const lead = 'team-lead';

function fromTeammate(
  { teammate, body, wrapped }: TeammateNote,
  members: ReadonlyMap<string, string>,
): Spoken {
  const details = { wrapped };
  if (teammate === 'system' || isTeamSignal(body)) return { text: body, source: engine, details };
  const agentId = teammate === lead ? undefined : (members.get(teammate) ?? asId(teammate));
  return { text: body, source: { kind: 'agent', ...definedOnly({ agentId }) }, details };
}

/** Whether a body is a message of the engine about a teammate, such as an `idle_notification`. */
function isTeamSignal(body: string): boolean {
  if (!body.startsWith('{')) return false;
  try {
    return asName(asObject(JSON.parse(body) as JsonValue)?.type) !== undefined;
  } catch {
    return false;
  }
}

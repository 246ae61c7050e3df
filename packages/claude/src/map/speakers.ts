import { definedOnly, type EventData, type Fidelity, type JsonObject, type JsonValue } from '@hansard/events';
import { asName, asObject, asText } from '../lines/json-fields.ts';
import { asId } from './ids.ts';

export type Source = EventData<'user:message'>['source'];

/** What one speaker says in a text. */
export interface Spoken {
  readonly text: string;
  readonly source: Source;
  /** Whether it is a command for the engine, without words for the model. */
  readonly command?: true;
  /** The text with the markup of the engine, if that differs. */
  readonly wrapped?: string;
}

/** Facts about a text that its record states. */
interface SpokenContext {
  readonly origin: JsonValue | undefined;
  /** The speaker where neither the text nor the origin names one. */
  readonly otherwise: Source;
  readonly fidelity: Fidelity;
}

const engine: Source = { kind: 'system' };

/** The speakers of a text, in its order. Never empty. */
export function spokenIn(text: string, { origin, otherwise, fidelity }: SpokenContext): Spoken[] {
  if (isOfEngine(text)) return [{ text, source: engine }];
  const command = commandIn(text, otherwise, fidelity);
  if (command !== null) return [command];
  const fields = asObject(origin) ?? {};
  const kind = asText(fields.kind);
  const notes = kind === undefined || kind === 'peer' ? teammateNotes(text) : null;
  if (notes !== null) return notes.map(fromTeammate);
  if (kind === 'peer') return [fromPeer(text, fields)];
  if (kind === 'channel') return [fromChannel(text, fields, otherwise)];
  return [{ text, source: otherwise }];
}

/** Tags of blocks that Claude Code and editors add to what a person typed. */
const added = /^<(?:ide_opened_file|ide_selection|ide_diagnostics|system-reminder)>/;

/** Whether the engine wrote a text in the user's name, whatever origin its record names. */
function isOfEngine(text: string): boolean {
  return added.test(text) || isInterruption(text);
}

/** Whether the engine wrote the text in the user's name after an interruption. */
export function isInterruption(text: string): boolean {
  return /^\[Request interrupted by user( for tool use)?\]$/.test(text);
}

const commandPart = /<(command-(?:name|message|args)|bash-input)>([\s\S]*?)<\/\1>\s*/y;

/** What a person typed as a command, without the markup of the engine; null if a text is anything else. */
function commandIn(text: string, source: Source, fidelity: Fidelity): Spoken | null {
  const parts = new Map<string, string>();
  const whole = text.trim();
  if (!whole.startsWith('<')) return null;
  commandPart.lastIndex = 0;
  for (let end = 0; end < whole.length; end = commandPart.lastIndex) {
    const [, part = '', words = ''] = commandPart.exec(whole) ?? [];
    if (part === '' || parts.has(part)) return null;
    parts.set(part, words.trim());
  }
  const shell = parts.get('bash-input');
  // A narrative leaves out what is between these tags.
  if (shell !== undefined && fidelity !== 'full') return { text, source, command: true };
  if (shell !== undefined) return { text: `! ${shell}`, source, command: true, wrapped: text };
  const name = parts.get('command-name')?.replace(/^\/?/, '/') ?? '/';
  if (name === '/') return null;
  const words = parts.get('command-args') ?? '';
  return words === ''
    ? { text: name, source, command: true, wrapped: text }
    : { text: `${name} ${words}`, source, wrapped: text };
}

/** The speaker that a record names; undefined if it names none. */
export function speakerOf(record: JsonObject): Source | undefined {
  const { origin = asObject(record.attachment)?.origin, wakeupSource, scheduledTaskId } = record;
  const { kind, subkind } = asObject(origin) ?? {};
  const ofSubkind = kind === 'task-notification' ? bySubkind.get(asText(subkind) ?? '') : undefined;
  const named = ofSubkind ?? byOrigin.get(asText(kind) ?? '');
  if (named !== undefined) return named;
  if (wakeupSource != null || scheduledTaskId != null) return timer;
  if (record.rowSource === 'harness' || record.rowSource === 'hook') return engine;
  return byTurn.get(asText(record.turnOrigin) ?? '');
}

const timer: Source = { kind: 'external', what: 'timer' };
/** Another session. Its name is its own claim, and names no agent of this one. */
const session: Source = { kind: 'external', what: 'session' };

const byOrigin: ReadonlyMap<string, Source> = new Map<string, Source>([
  ['human', { kind: 'user' }],
  ['channel', { kind: 'external', what: 'service' }],
  ['peer', session],
  ['task-notification', engine],
  ...[
    'coordinator',
    'observer',
    'observer-activity',
    'auto-continuation',
    'unclassified',
    'plugin',
    'slack-ping',
    'voice-call',
  ].map((kind) => [kind, engine] as const),
]);

/** Notifications that carry the words of somebody else. */
const bySubkind: ReadonlyMap<string, Source> = new Map<string, Source>([
  ['scheduled-trigger', timer],
  ['external-event', { kind: 'external' }],
  ['peer-send-message', session],
]);

/** Why a turn began, in records without an origin. A program that uses the SDK speaks for its user. */
const byTurn: ReadonlyMap<string, Source> = new Map<string, Source>([
  ['scheduled', timer],
  ['peer', session],
  ['task_notification', engine],
  ['auto_continuation', engine],
  ['host_synthetic', engine],
  ['system', engine],
]);

/** The hook whose words the engine wrote as this text; undefined for any other text. */
export function hookIn(text: string): string | undefined {
  if (text.startsWith('<user-prompt-submit-hook>')) return 'UserPromptSubmit';
  return /^([A-Z][A-Za-z]{1,40}) hook (?:feedback|additional context|blocking error|stopped continuation)\b/.exec(
    text,
  )?.[1];
}

/** The words of a sub-agent, which its task names, or of another session, which claims a name. */
function fromPeer(text: string, origin: JsonObject): Spoken {
  const agentId = asId(origin.senderTaskId);
  const name = asName(origin.name) ?? asName(origin.from);
  const source: Source = {
    ...(agentId === undefined ? session : { kind: 'agent' as const, agentId }),
    ...definedOnly({ name }),
  };
  const inside = elementIn(text, /^<(?:agent|cross-session)-message[ >]/)?.body;
  const body = asText(origin.body)?.trim() || inside || text;
  const isWrapped = body !== text && text.includes(body);
  return isWrapped ? { text: body, source, wrapped: text } : { text, source };
}

/** The words of a person in a channel, which the engine wraps with the name of the channel. */
function fromChannel(text: string, origin: JsonObject, source: Source): Spoken {
  const element = elementIn(text, /^<channel[ >]/);
  const person = / user="([^"]*)"/.exec(element?.head ?? '')?.[1];
  const name = [person, asName(origin.server)].filter(Boolean).join(' of ');
  const from = name === '' ? source : { ...source, name };
  return element === null || element.body === ''
    ? { text, source: from }
    : { text: element.body, source: from, wrapped: text };
}

/** The opening tag and the content, if the whole text is one element; otherwise null. */
function elementIn(text: string, opened: RegExp): { readonly head: string; readonly body: string } | null {
  const whole = text.trim();
  const end = whole.lastIndexOf('</');
  const head = whole.slice(0, whole.indexOf('>') + 1);
  const [name = ''] = /^[\w-]*/.exec(head.slice(1)) ?? [];
  const isWhole = opened.test(head) && head.length <= end && whole.slice(end) === `</${name}>`;
  return isWhole ? { head, body: whole.slice(head.length, end).trim() } : null;
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
export const lead = 'team-lead';

/** A record names a teammate by the name alone. Its file, which may come later, has the id. */
function fromTeammate({ teammate, body, wrapped }: TeammateNote): Spoken {
  if (teammate === 'system' || isTeamSignal(body)) return { text: body, source: engine, wrapped };
  const named = teammate === lead ? {} : { name: teammate };
  return { text: body, source: { kind: 'agent', ...named }, wrapped };
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

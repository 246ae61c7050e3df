import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { isEvent, isPlainObject, type JsonValue, type NewEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch, randomFrom, sampleEvents, updateDispatch } from '@hansard/testing';

/** Ranges of code points that no output may contain. Written out, so that this table shares nothing with the code that it checks. */
const forbiddenRanges: readonly (readonly [first: number, last: number, what: string])[] = [
  [0x00, 0x08, 'C0'],
  [0x0b, 0x1f, 'C0'],
  [0x7f, 0x9f, 'DEL and C1'],
  [0x061c, 0x061c, 'Arabic letter mark'],
  [0x200b, 0x200b, 'zero-width space'],
  [0x200e, 0x200f, 'directional marks'],
  [0x2028, 0x202e, 'separators and bidi embeddings'],
  [0x2060, 0x206f, 'invisible operators and bidi isolates'],
  [0xd800, 0xdfff, 'half of a surrogate pair'],
  [0xfeff, 0xfeff, 'byte order mark'],
  [0xfff9, 0xfffb, 'interlinear annotation'],
  [0xe0000, 0xe007f, 'tags'],
];

/** Each forbidden code point of a text, with the text around it. */
export function forbiddenIn(text: string): string[] {
  const found: string[] = [];
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const range = forbiddenRanges.find(([first, last]) => first <= code && code <= last);
    if (range !== undefined)
      found.push(
        `U+${code.toString(16)} (${range[2]}) in ${JSON.stringify(text.slice(Math.max(0, at - 40), at + 20))}`,
      );
    at += character.length;
  }
  return found;
}

const markup = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '](javascript:alert(1))',
  '__proto__',
  'constructor',
  '=cmd|calc!A1',
  'שלום',
  'e\u0301',
  '👩‍🚀',
  '\r\n',
  '\t',
  '\u001b]0;title\u0007',
  '\u001b[2J\u001b[1;1H',
  '\u009b31m',
];

/** A source of hostile texts: every forbidden code point appears after about a hundred of them, in random company. */
export function hostileTexts(seed: number): () => string {
  const random = randomFrom(seed);
  const codes = forbiddenRanges.flatMap(([first, last]) =>
    Array.from({ length: Math.min(last - first + 1, 40) }, (_, step) => first + step),
  );
  let next = Math.floor(random() * codes.length);
  return () => {
    const parts = Array.from({ length: 6 }, () => {
      if (random() < 0.25) return markup[Math.floor(random() * markup.length)] ?? '';
      next = (next + 1) % codes.length;
      return `x${String.fromCodePoint(codes[next] ?? 0)}`;
    });
    return parts.join('');
  };
}

/** A copy of an event with a hostile text in each place that may hold any text, a key of its own included. */
function hostileEvent(event: NewEvent, text: () => string): NewEvent[] {
  let copy = structuredClone(event) as NewEvent & { data: Record<string, JsonValue> };
  const places = placesOf(copy.data);
  for (const path of places) {
    const changed = structuredClone(copy);
    put(changed.data, path, text());
    if (isEvent({ id: 'e', timestamp: '2026-03-01T09:30:00.000Z', ...changed })) copy = changed;
  }
  const withKey = structuredClone(copy);
  Object.defineProperty(withKey.data, text(), { value: text(), enumerable: true });
  return isEvent({ id: 'e', timestamp: '2026-03-01T09:30:00.000Z', ...withKey }) ? [copy, withKey] : [copy];
}

/** Links between events stay, so that the events still belong together. */
const links = ['toolCallId', 'keptFrom', 'subject', 'agentId', 'dispatchId'];

function placesOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value === 'string') return links.includes(path.at(-1) ?? '') ? [] : [[...path]];
  if (!isPlainObject(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => placesOf(item, [...path, key]));
}

function put(root: Record<string, JsonValue>, path: readonly string[], text: string): void {
  const place = path
    .slice(0, -1)
    .reduce<Record<string, JsonValue>>((value, key) => value[key] as Record<string, JsonValue>, root);
  place[path.at(-1) ?? ''] = text;
}

export interface HostileLog {
  readonly dispatchId: string;
  /** The id of an utterance that another agent received. */
  readonly said: string;
}

/** Records a session of every known event type, with hostile text wherever text is allowed. */
export async function recordHostileLog(cwd: string, taskDir: string, seed: number): Promise<HostileLog> {
  const text = hostileTexts(seed);
  await using store = openDispatchStore(openJsonFileStore({ root: join(cwd, '.projects') }));
  const [project = '', , slug = ''] = taskDir.split('/');
  await store.putTask(taskDir, {
    slug,
    project,
    name: text(),
    status: text(),
    created: '2026-03-01T09:30:00.000Z',
  });
  const { dispatchId } = await createDispatch(store, taskDir, {
    role: text(),
    model: text(),
    cwd: text(),
    botId: text(),
    fidelity: 'full',
  });
  const ann = { agentId: 'agent_001' };
  const events: NewEvent[] = [
    { type: 'agent:created', data: { name: text() }, ...ann },
    ...Object.values(sampleEvents).flatMap(({ type, data }) => [
      ...hostileEvent({ type, data }, text),
      ...hostileEvent({ type, data, ...ann }, text),
    ]),
    { type: 'custom:thing', data: { [text()]: [text(), { [text()]: text() }] } },
    {
      type: 'agent:inference',
      data: { model: text(), durationMs: 1, usage: { inputTokens: 1, outputTokens: 1 } },
      ...ann,
    },
    {
      type: 'judge:verdict',
      data: {
        judge: text(),
        player: text(),
        question: text(),
        pass: 'external',
        label: text(),
        packetSha256: text(),
      },
    },
  ];
  const appended = await appendEvents(store, taskDir, dispatchId, events);
  const spoken = appended.find(({ type, agentId }) => type === 'agent:text' && agentId !== undefined);
  await appendEvents(store, taskDir, dispatchId, [
    {
      type: 'user:message',
      data: { text: text(), source: { kind: 'agent', agentId: 'agent_001' } },
      ...(spoken === undefined ? {} : { substance: spoken.id }),
    },
  ]);
  await updateDispatch(store, taskDir, dispatchId, {
    status: 'completed',
    completedAt: new Date().toISOString(),
    structuredResult: { [text()]: text() },
  });
  return { dispatchId, said: spoken?.id ?? '' };
}

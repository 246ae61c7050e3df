import { createHash, randomBytes } from 'node:crypto';
import { isEvent, type JsonObject, type JsonValue, type NewEvent, separateContent } from '@hansard/events';
import { contentLabel } from '@hansard/events/plain';
import { describe, expect, it } from 'vitest';

const seed = Number(process.env.CONTENT_SEED ?? 34);

/** A number from 0 to below 1, the same for the same seed. */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

interface Made {
  readonly event: NewEvent;
  /** The bytes that the event holds, in their order, and their types. */
  readonly files: readonly { readonly bytes: Buffer; readonly mediaType: string }[];
  /** What must stay as it is. */
  readonly words: readonly string[];
}

/** Messages and results with files in the form of each product. The oracle knows the bytes, and shares no code with the reader. */
function madeEvents(count: number): Made[] {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const earlier: Buffer[] = [];
  return Array.from({ length: count }, (_, number) => {
    const files: Made['files'][number][] = [];
    const words: string[] = [];
    const word = () => {
      words.push(`word-${number}-${words.length}`);
      return words.at(-1) as string;
    };
    const block = (): JsonObject => {
      const mediaType = pick(['image/png', 'image/jpeg', 'application/pdf', 'audio/wav', 'image/svg+xml']);
      const isRepeated = earlier.length > 0 && random() < 0.3;
      const bytes = isRepeated
        ? pick(earlier)
        : Buffer.concat([Buffer.from([0xff, 0]), randomBytes(1 + Math.floor(random() * 400))]);
      earlier.push(bytes);
      files.push({ bytes, mediaType });
      const data = bytes.toString('base64');
      return pick<() => JsonObject>([
        () => ({ kind: kindOf(mediaType), mediaType, base64: data, name: word() }),
        () => ({ type: 'image', source: { type: 'base64', media_type: mediaType, data } }),
        () => ({
          type: 'document',
          title: word(),
          source: { type: 'base64', media_type: mediaType, data: bytes.toString('base64url') },
        }),
        () => ({ type: 'image', data: data.replace(/(.{76})/g, '$1\n'), mimeType: mediaType }),
        () => ({ type: 'resource', resource: { uri: `file:///${word()}`, mimeType: mediaType, blob: data } }),
        () => ({ type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}`, detail: word() } }),
        () => ({ type: 'input_image', image_url: `data:${mediaType};base64,${data}` }),
        () => ({ type: 'file', file: { filename: word(), file_data: `data:${mediaType};base64,${data}` } }),
        () => ({ type: 'media', mediaType, data }),
        () => ({ type: 'image', file: { base64: data, type: mediaType, name: word() } }),
      ])();
    };
    const content = (depth = 0): JsonValue => {
      if (random() < 0.4) return { type: 'text', text: word() };
      if (depth < 3 && random() < 0.3) return { [word()]: [content(depth + 1), content(depth + 1)] };
      return block();
    };
    const blocks = Array.from({ length: Math.floor(random() * 4) }, () => content());
    const event = pick<() => NewEvent>([
      () => ({ type: 'agent:tool_result', data: { ...result, output: blocks } }),
      () => ({ type: 'agent:tool_result', data: { ...result, output: word(), details: { more: blocks } } }),
      () => ({ type: 'system:attachment', data: { attachment: { blocks } } }),
    ])();
    return { event, files, words };
  });
}

const result = { toolCallId: 'c', tool: 'Read', status: 'completed', metadata: {} } as const;

function kindOf(mediaType: string): string {
  const [kind = ''] = mediaType.split('/');
  return kind === 'image' || kind === 'audio' ? kind : 'document';
}

/** What is wrong with a separation; empty: nothing. */
function faultsOf({ event, files, words }: Made, separate: typeof separateContent): string[] {
  const faults: string[] = [];
  const { event: separated, contents } = separate(event);
  const text = JSON.stringify(separated);
  const digests = files.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex'));
  const stored = new Map(contents.map((one) => [one.id, one]));
  if (stored.size !== contents.length) faults.push('stored twice');
  if (stored.size !== new Set(digests).size) faults.push(`${stored.size} contents`);
  for (const [index, { bytes, mediaType }] of files.entries()) {
    const digest = digests[index] as string;
    const one = stored.get(digest);
    if (!Buffer.from(one?.data.base64 ?? '', 'base64').equals(bytes)) faults.push('other bytes');
    if (one?.data.size !== bytes.length || one.data.sha256 !== digest) faults.push('other size or digest');
    if (one?.timestamp !== null || !isEvent(one)) faults.push('not the same event each time');
    if (!text.includes(digest)) faults.push('named nowhere');
    if (!text.includes(`"mediaType":${JSON.stringify(mediaType)}`)) faults.push('without its type');
    if (text.includes(bytes.toString('base64').slice(0, 40))) faults.push('bytes stay');
  }
  const named = [...text.matchAll(/"sha256":"(\w+)"/g)].map(([, digest]) => digest);
  if (named.join() !== digests.join()) faults.push('other order');
  for (const word of words) if (!text.includes(word)) faults.push('a word is lost');
  if (separate(separated).event !== separated) faults.push('not the same again');
  return faults;
}

describe(`bytes in an event (seed ${seed})`, () => {
  const made = madeEvents(2_000);

  it('become content with their digest, whatever the form of the part', () => {
    expect(made.filter(({ files }) => files.length > 1).length).toBeGreaterThan(300);
    expect(made.flatMap((one) => faultsOf(one, separateContent))).toEqual([]);
  });

  const change = (edit: (separated: ReturnType<typeof separateContent>) => unknown) =>
    ((event, limit) => edit(separateContent(event, limit))) as typeof separateContent;
  it.each<[string, typeof separateContent]>([
    ['moves nothing', change(({ contents }) => ({ event: made[0]?.event, contents }))],
    ['loses the last content', change(({ event, contents }) => ({ event, contents: contents.slice(0, -1) }))],
    [
      'names a part that is not stored',
      change(({ event, contents }) => ({
        event: JSON.parse(JSON.stringify(event).replace(/"sha256":"./, '"sha256":"0')),
        contents,
      })),
    ],
    [
      'stores the text instead of the bytes',
      change(({ event, contents }) => ({
        event,
        contents: contents.map((one) => ({
          ...one,
          data: { ...one.data, base64: btoa(one.data.base64 ?? '') },
        })),
      })),
    ],
    [
      'gives content a time',
      change(({ event, contents }) => ({
        event,
        contents: contents.map((one) => ({ ...one, timestamp: '2026-03-01T09:30:00.000Z' })),
      })),
    ],
    [
      'drops the type of a part',
      change(({ event, contents }) => ({
        event: JSON.parse(JSON.stringify(event).replace(/"mediaType":"[^"]*",/, '')),
        contents,
      })),
    ],
    [
      'drops the name of a part',
      change(({ event, contents }) => ({
        event: JSON.parse(JSON.stringify(event).replace(/,"name":"[^"]*"/, '')),
        contents,
      })),
    ],
    [
      'stores equal bytes twice',
      change(({ event, contents }) => ({ event, contents: [...contents, ...contents] })),
    ],
  ])('a separation that %s is caught', (_, mutant) => {
    expect(made.flatMap((one) => faultsOf(one, mutant)).length).toBeGreaterThan(0);
  });
});

describe('content', () => {
  const message = (part: unknown): NewEvent => ({
    type: 'user:message',
    data: { text: 'x', source: { kind: 'user' }, parts: [part as JsonObject] },
  });
  const partOf = (event: NewEvent, limit?: number) => {
    const separated = separateContent(event, limit);
    return { part: (separated.event.data.parts as JsonValue[])[0], contents: separated.contents };
  };

  it('that is text stands in the message', () => {
    const base64 = Buffer.from('Buy öwls.').toString('base64');
    const { part, contents } = partOf(
      message({ kind: 'document', mediaType: 'text/csv', base64, name: 'a' }),
    );
    expect(part).toEqual({ kind: 'text', text: 'Buy öwls.', mediaType: 'text/csv', name: 'a' });
    expect(contents).toEqual([]);
  });

  it('above the limit is named with digest, type and size, and not kept', () => {
    const bytes = Buffer.alloc(101, 255);
    const source = { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') };
    const { part, contents } = partOf(message({ type: 'image', source }), 100);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(part).toEqual({ kind: 'image', mediaType: 'image/png', sha256, size: 101, isKept: false });
    expect(contents).toEqual([]);
    expect(contentLabel(part as never)).toBe(
      `[image/png 101 bytes, sha256 ${sha256.slice(0, 8)}…, not kept]`,
    );
    expect(partOf(message({ type: 'image', source }), 101).contents).toHaveLength(1);
  });

  it('that is only named keeps its address', () => {
    const source = { type: 'url', url: 'https://example.com/a.png' };
    const { part } = partOf(message({ type: 'image', source }));
    expect(part).toEqual({ kind: 'image', url: 'https://example.com/a.png' });
    const file = { type: 'file', file_id: 'file_1' };
    expect(partOf(message({ type: 'document', source: file })).part).toEqual({
      kind: 'document',
      details: { source: file },
    });
  });

  it.each([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'not Base64!' } },
    { base64: 'word' },
    { type: 'image', data: 7, mimeType: 'image/png' },
    'data:text/plain,hello',
  ])('%j is not content, and stays', (value) => {
    const event: NewEvent = { type: 'agent:tool_result', data: { ...result, output: [value as JsonValue] } };
    expect(separateContent(event).event).toBe(event);
  });

  it('of a call or of what a model gets back stays where it is', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAEC' } };
    for (const event of [
      { type: 'agent:tool_call', data: { toolCallId: 'c', tool: 'Draw', metadata: {}, input: { image } } },
      { type: 'agent:inference', data: { model: 'm', usage: {}, replay: [image] } },
      { type: 'claude:user', data: { message: { content: [image] } } },
      { type: 'game:move', data: { image } },
    ] as NewEvent[])
      expect(separateContent(event).event).toBe(event);
  });
});

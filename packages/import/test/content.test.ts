import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder, lines, prompts } from './logs.ts';

const image = (bytes: Buffer) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') },
});

/** Prompts whose content is an image and a question. The third image is the first one again. */
function sessionWithImages(images: readonly Buffer[]): object[] {
  return prompts(images.length).map((prompt, at) => ({
    ...prompt,
    message: {
      role: 'user',
      content: [{ type: 'text', text: `What is ${at}?` }, image(images[at] as Buffer)],
    },
  }));
}

async function imported(folder: LogFolder, stages: readonly string[]) {
  const provider = createMemoryStore();
  const store = openDispatchStore(provider);
  const path = folder.put(`-srv-shop-${stages.length}/session-1.jsonl`, '');
  for (const stage of [...stages, '']) {
    appendFileSync(path, stage);
    const items = await importAll(store, [path], { quietAfterMs: 0 });
    expect(
      items.map((item) => ('error' in item ? item.error : null)).filter((error) => error !== null),
    ).toEqual([]);
  }
  const { dispatches } = await store.listDispatches();
  const [found] = dispatches.flatMap((one) => ('error' in one ? [] : [one]));
  if (found === undefined) throw new Error('nothing was imported');
  return provider.getDispatchEvents(found.taskDir, found.envelope.dispatchId) as CapturedEvent[];
}

describe('images of an imported session', () => {
  it('are the same events from one import, from two, and from stages, and keep their bytes', async () => {
    using folder = new LogFolder();
    const [one, two] = [randomBytes(3_000), randomBytes(5_000)] as const;
    const images = [one, two, one, two];
    const records = sessionWithImages(images).map((record) => lines(record));
    const whole = await imported(folder, [records.join('')]);
    const staged = await imported(folder, records);
    expect(staged).toEqual(whole);
    const stored = whole.filter(({ type }) => type === 'content:stored');
    expect(stored.map(({ data }) => Buffer.from(String(data.base64), 'base64'))).toEqual([one, two]);
    const digests = images.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
    const messages = whole.filter(({ type }) => type === 'user:message');
    expect(
      messages.map(({ data }) => (data.parts as { sha256: string }[]).map(({ sha256 }) => sha256)),
    ).toEqual(digests.map((digest) => [digest]));
  });

  it('do not come back after they were removed, in whatever stages the source grows', async () => {
    using folder = new LogFolder();
    const images = [randomBytes(3_000), randomBytes(5_000), randomBytes(700)] as const;
    const [one, two] = images;
    const records = sessionWithImages([one, two, one, two, images[2], one]).map((record) => lines(record));
    const provider = createMemoryStore();
    const store = openDispatchStore(provider);
    const path = folder.put('-srv-shop-9/session-1.jsonl', records.slice(0, 3).join(''));
    await importAll(store, [path], { quietAfterMs: 0 });
    const { dispatches } = await store.listDispatches();
    const [found] = dispatches.flatMap((one) => ('error' in one ? [] : [one]));
    if (found === undefined) throw new Error('nothing was imported');
    const place = { taskDir: found.taskDir, dispatchId: found.envelope.dispatchId };
    const sha256 = createHash('sha256').update(one).digest('hex');
    provider.rewriteDispatch?.(place.taskDir, place.dispatchId, {
      envelope: (envelope) => ({ ...envelope, folded: null }),
      event: (event) => (event.id === sha256 ? { ...event, data: { ...event.data, base64: '' } } : event),
    });
    for (const record of [...records.slice(3), '']) {
      appendFileSync(path, record);
      const items = await importAll(store, [path], { quietAfterMs: 0 });
      expect(items.flatMap((item) => ('error' in item ? [item.error] : []))).toEqual([]);
    }
    const events = provider.getDispatchEvents(place.taskDir, place.dispatchId) as CapturedEvent[];
    expect(events.filter(({ type }) => type === 'user:message')).toHaveLength(6);
    expect(events.filter(({ type }) => type === 'content:stored').map(({ data }) => data.base64)).toEqual([
      '',
      two.toString('base64'),
      images[2].toString('base64'),
    ]);
    expect(JSON.stringify(events)).not.toContain(one.toString('base64'));
  });

  it('can be larger than the start of the file by which its format is found', async () => {
    using folder = new LogFolder();
    const events = await imported(folder, [lines(...sessionWithImages([randomBytes(2_000_000)]))]);
    expect(events.find(({ type }) => type === 'content:stored')?.data.size).toBe(2_000_000);
  });
});

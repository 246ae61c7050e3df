import { createHash } from 'node:crypto';
import { openDispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type NewEvent, newEvent, separateContent } from '@hansard/events';
import { createRedactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';

const taskDir = 'lab/tasks/look';
const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]);
const base64 = bytes.toString('base64');
const sha256 = createHash('sha256').update(bytes).digest('hex');

function shown(text: string, encoded = base64): NewEvent {
  const parts = [{ kind: 'image' as const, mediaType: 'image/png', base64: encoded }];
  return newEvent('user:message', { text, source: { kind: 'user' }, parts });
}

async function begin(options: Parameters<typeof openDispatchStore>[1] = {}) {
  const provider = createMemoryStore();
  const store = openDispatchStore(provider, options);
  const dispatch = await store.beginDispatch(taskDir, { role: 'r', fidelity: 'full' });
  const stored = () => provider.getDispatchEvents(taskDir, dispatch.dispatchId) as CapturedEvent[];
  return { provider, store, dispatch, stored };
}

describe('bytes that a program appends', () => {
  it('are stored once, before the first event that names them', async () => {
    const { dispatch, stored } = await begin();
    const first = await dispatch.append(shown('one'));
    const list = await dispatch.append([shown('two'), shown('three')]);
    expect(list).toHaveLength(2);
    expect(first.data.parts).toEqual([{ kind: 'image', mediaType: 'image/png', sha256, size: 7 }]);
    expect(stored().map(({ type, id }) => (type === 'content:stored' ? id : type))).toEqual([
      sha256,
      'user:message',
      'user:message',
      'user:message',
    ]);
    expect(stored()[0]).toEqual({
      id: sha256,
      type: 'content:stored',
      timestamp: null,
      data: { sha256, size: 7, base64 },
    });
  });

  it('are read by their digest, and left out of every other reading unless it asks', async () => {
    const { store, dispatch } = await begin();
    await dispatch.append(shown('one'));
    const ref = { taskDir, dispatchId: dispatch.dispatchId };
    const log = await store.openDispatch(ref);
    expect(await dispatch.readContent(sha256)).toBe(base64);
    expect(await log.readContent(sha256)).toBe(base64);
    expect(await log.readContent('0'.repeat(64))).toBeNull();
    const read: unknown[] = [await store.getDispatchEvents(ref), await store.getRecentEvents(ref, 9)];
    read.push((await log.last(9)).events);
    for await (const { event } of log.events()) read.push(event);
    for await (const item of log.follow({ until: () => true })) read.push(item);
    expect(JSON.stringify(read)).not.toContain(base64);
    expect(JSON.stringify(read)).toContain('content:stored');
    const asked: unknown[] = [];
    for await (const { events } of log.pages({ content: true })) asked.push(...events);
    expect(JSON.stringify(asked)).toContain(base64);
  });

  it('are left out of a narrative, with their digest and size', async () => {
    const provider = createMemoryStore();
    const store = openDispatchStore(provider);
    const dispatch = await store.beginDispatch(taskDir, { role: 'r' });
    await dispatch.append(shown('one'));
    const [content, message] = provider.getDispatchEvents(taskDir, dispatch.dispatchId) as CapturedEvent[];
    expect(content?.data).toEqual({ sha256, size: 7, leftOut: { base64: base64.length } });
    expect(message?.data.parts).toEqual([{ kind: 'image', mediaType: 'image/png', sha256, size: 7 }]);
    expect(await dispatch.readContent(sha256)).toBeNull();
  });

  it('are not searched for secrets, and a secret beside them is replaced', async () => {
    const own = createRedactor({ formats: false, patterns: { word: 'AQID[A-Za-z0-9]*' } });
    const { dispatch, stored } = await begin({ redact: own });
    const encoded = Buffer.from([1, 2, 3, 4, 5, 6]).toString('base64');
    expect(encoded).toContain('AQID');
    await dispatch.append(shown('say AQIDx', encoded));
    const [content, message] = stored();
    expect(content?.data.base64).toBe(encoded);
    expect(message?.data.text).toBe('say [REDACTED:word]');
  });

  it('that do not have their digest are not given, and the error says where they are', async () => {
    const { dispatch } = await begin();
    const data = { sha256, size: 7, base64: Buffer.from('changed').toString('base64') };
    await dispatch.append({ ...newEvent('content:stored', data), id: sha256, timestamp: null });
    await expect(dispatch.readContent(sha256)).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      details: { taskDir, dispatchId: dispatch.dispatchId, position: 0, sha256 },
    });
  });

  it('that were redacted do not come back with the same source', async () => {
    const { provider, store, dispatch, stored } = await begin();
    await dispatch.append(shown('one'));
    await dispatch.end({ status: 'completed' });
    provider.rewriteDispatch?.(taskDir, dispatch.dispatchId, {
      envelope: (envelope) => envelope,
      event: (event) =>
        event.type === 'content:stored' ? { ...event, data: { ...event.data, base64: '' } } : event,
    });
    const again = await store.openDispatch(taskDir, dispatch.dispatchId, { write: true });
    const { event, contents } = separateContent(shown('two'));
    await again.append([...contents, event]);
    await again.append(shown('three'));
    expect(await again.readContent(sha256)).toBeNull();
    expect(stored().filter(({ type }) => type === 'content:stored')).toHaveLength(1);
    expect(stored().filter(({ type }) => type === 'user:message')).toHaveLength(3);
    expect(JSON.stringify(stored())).not.toContain(base64);
  });
});

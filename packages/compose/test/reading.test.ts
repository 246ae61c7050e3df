import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newEvent } from '@hansard/events';
import type { AgentProvider } from '@hansard/provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness, openNamed } from '../src/index.ts';
import { EventRequest, eventNamed, pagedLog, readSession, renderModelCall } from '../src/reading.ts';

let cwd: string;
let harness: Harness;
let dispatchId: string;

const twins: AgentProvider = {
  contract: 1,
  async *run() {
    for (const agentId of ['twin-one', 'twin-two'])
      yield { kind: 'event', event: { ...newEvent('agent:created', { name: 'Twin' }), agentId } };
    yield { kind: 'event', event: { ...newEvent('agent:text', { text: 'Hello.' }), agentId: 'twin-one' } };
    yield { kind: 'event', event: newEvent('session:complete', { status: 'completed' }) };
  },
};

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'hansard-reading-'));
  harness = await openHarness({ cwd, env: {}, load: 'record', packageDirs: [import.meta.dirname] });
  ({ dispatchId } = await harness.run({ task: 'lab/twins', agent: twins, role: 'host' }));
});
afterAll(async () => {
  await harness.close();
  rmSync(cwd, { recursive: true, force: true });
});

const paged = async (signal?: AbortSignal) =>
  pagedLog((await openNamed(harness.store, 'latest')).log, signal);

describe('an event', () => {
  it('is found by its position, and by the end of its id', async () => {
    const log = await paged();
    const { event, id } = await eventNamed(log, '2');
    expect(event.data).toEqual({ text: 'Hello.' });
    expect(await eventNamed(log, id.slice(-12))).toMatchObject({ position: 2 });
  });

  it.each([
    ['@soon', 'HARNESS_NAME_INVALID', '"@soon" does not name an event.'],
    ['99', 'HARNESS_NOT_FOUND', 'has no event 99: the position of its last event is 3.'],
    ['nothing', 'HARNESS_NOT_FOUND', 'has no event or message nothing.'],
  ])('that %s does not name is an error with a code', async (word, code, message) => {
    await expect(eventNamed(await paged(), word)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it('is looked for until a signal stops it', async () => {
    const found = eventNamed(await paged(AbortSignal.abort('enough')), 'nothing');
    await expect(found).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a request for events', () => {
  const positionsOf = async (words: Parameters<typeof EventRequest.parse>[1]) => {
    const request = await EventRequest.parse({}, words);
    const log = await paged();
    const filter = await request.forOnly(log);
    const passing: number[] = [];
    for await (const { first, events } of log.pages())
      for (const [at, event] of events.entries()) if (filter.passes(event)) passing.push(first + at);
    return passing;
  };

  it('selects by agent, type and text', async () => {
    expect(await positionsOf({ agent: ['twin-one'] })).toEqual([0, 2]);
    expect(await positionsOf({ type: 'agent:created' })).toEqual([0, 1]);
    expect(await positionsOf({ text: '/HELLO/i' })).toEqual([2]);
  });

  it.each([
    [
      { agent: ['Twin'] },
      'HARNESS_AMBIGUOUS',
      '2 agents are named "Twin": Twin (twin-one), Twin (twin-two).',
    ],
    [{ agent: ['Nobody'] }, 'HARNESS_NOT_FOUND', 'There is no agent "Nobody".'],
    [{ source: 'moon' }, 'HARNESS_OPTION_INVALID', '--source "moon" is not a source of messages.'],
    [{ text: '/(/' }, 'HARNESS_OPTION_INVALID', "can't be searched"],
    [{ since: 'soon' }, 'HARNESS_OPTION_INVALID', '--since "soon" is not a time.'],
  ])('of %j is refused with a code', async (words, code, message) => {
    await expect(positionsOf(words)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });
});

describe('a session in memory', () => {
  it('finds its agents by the words of a filter, and notes a shared name', async () => {
    const notes: string[] = [];
    const session = await readSession(harness.store, dispatchId, { onNote: (line) => notes.push(line) });
    expect(session.findAgent('two')).toMatchObject({ agentId: 'twin-two' });
    expect(() => session.findAgent('Twin')).toThrow('2 agents are named "Twin"');
    expect(notes).toContain('2 agents are named Twin: twin-one, twin-two.');
  });

  it('has no context of a model if it was recorded as a narrative', async () => {
    const session = await readSession(harness.store, dispatchId);
    const call = renderModelCall(session, { call: 'latest' });
    await expect(call).rejects.toMatchObject({ code: 'HARNESS_NARRATIVE' });
  });
});

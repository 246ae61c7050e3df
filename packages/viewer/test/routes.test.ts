import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type NewEvent, newEvent } from '@hansard/events';
import { importMutated } from '@hansard/testing/mutants';
import { expect, it } from 'vitest';
import type { ReaderRow, StoreSpending } from '../src/answers.ts';
import { createViewer } from '../src/index.ts';
import { openStore, startedViewer, taskDir } from './viewed.ts';

const place = `/api/d/${encodeURIComponent(taskDir)}/d1`;

interface Rows {
  readonly first: number;
  readonly size: number;
  readonly rows: readonly ReaderRow[];
}

async function viewed(events: number) {
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, {
    role: 'worker',
    dispatchId: 'd1',
    title: 'Draw the map',
  });
  await dispatch.append({ type: 'agent:created', agentId: 'a1', data: { name: 'Ada', languageModel: 'm' } });
  const texts = Array.from({ length: events - 1 }, (_, at): NewEvent => {
    return { type: 'agent:text', agentId: 'a1', data: { text: `text ${at + 1}` } };
  });
  if (texts.length > 0) await dispatch.append(texts);
  return { store, dispatch, ...(await startedViewer(store)) };
}

it('lists tasks and dispatches, with those that cannot be read', async () => {
  const { json } = await viewed(1);
  expect(await json('/api/tasks')).toEqual([{ taskDir, task: null }]);
  const { dispatches, next } = (await json('/api/dispatches')) as { dispatches: object[]; next: unknown };
  expect(dispatches).toMatchObject([{ taskDir, dispatchId: 'd1', facts: { title: 'Draw the map' } }]);
  expect(next).toBeNull();
  expect(await json(`/api/dispatches?task=other`)).toMatchObject({ dispatches: [] });
});

it('sums up what the last 30 days cost, by day, project and model, and lists each session with its figures', async () => {
  const { store, json } = await viewed(1);
  await using child = await store.beginDispatch('lab/tasks/seas', { role: 'sailor', dispatchId: 'd2' });
  await child.append([
    { type: 'agent:text', messageId: 'm1', data: { text: 'Ahoy.' } },
    {
      type: 'agent:inference',
      messageId: 'm1',
      data: { model: 'big', usage: { inputTokens: 1_000, outputTokens: 500 }, costUsd: 0.25 },
    },
  ] as NewEvent[]);
  await child.end({ status: 'completed' });
  const spending = (await json('/api/spending')) as StoreSpending;
  expect(spending.days).toHaveLength(30);
  expect(spending.days.at(-1)).toMatchObject({ cost: '$0.25', costUsd: 0.25, tokens: 1_500 });
  expect(spending.days.at(-2)).toMatchObject({ cost: null, sessions: 0 });
  expect(spending.days.every(({ end }, at) => end === (spending.days[at + 1]?.start ?? end))).toBe(true);
  expect(spending).toMatchObject({
    cost: '$0.25',
    isCut: false,
    projects: [{ name: 'lab', cost: '$0.25' }],
    models: [{ name: 'big', cost: '$0.25', sessions: 1 }],
  });
  expect(await json('/api/spending?task=lab%2Ftasks%2Fmaps')).toMatchObject({ cost: null, models: [] });
  const { dispatches } = (await json('/api/dispatches?task=lab%2Ftasks%2Fseas')) as { dispatches: object[] };
  expect(dispatches).toMatchObject([
    {
      facts: {
        title: 'sailor',
        project: 'lab',
        product: null,
        models: ['big'],
        cost: '$0.25',
        tokens: '1.5K',
        tokenCount: 1_500,
      },
    },
  ]);
});

it('answers rows by their positions', async () => {
  const { json } = await viewed(250);
  const positions = (page: Rows) => page.rows.map(({ position }) => position);
  const last = (await json(`${place}/rows?last=3`)) as Rows;
  expect([last.first, last.size, positions(last)]).toEqual([247, 3, [247, 248, 249]]);
  const middle = (await json(`${place}/rows?from=100&n=100`)) as Rows;
  expect(positions(middle)).toEqual(Array.from({ length: 100 }, (_, at) => at + 100));
  expect(middle.rows[0]).toEqual({
    position: 100,
    kind: 'said',
    word: 'text',
    time: expect.any(Number),
    agentId: 'a1',
    agent: 'Ada',
    head: '',
    text: 'text 100',
    outcome: '',
    notes: '',
    tone: 'plain',
    isFailed: false,
    status: '',
  });
  expect(await json(`${place}/rows?from=240&n=100`)).toMatchObject({ first: 240, size: 10, end: 249 });
  expect(await json(`${place}/rows?from=250&n=5`)).toEqual({ first: 250, size: 0, end: 249, rows: [] });
  expect(await json(`${place}/rows?from=9999&n=5`)).toMatchObject({ first: 9999, size: 0, rows: [] });
  expect(await json(`${place}/agents`)).toEqual({
    agents: [{ id: 'a1', name: 'Ada', hasEnded: false, position: 0 }],
  });
  expect(await json(`${place}/event/7`)).toMatchObject({ position: 7, event: { data: { text: 'text 7' } } });
});

it('refuses what it does not have, in words', async () => {
  const { get } = await viewed(3);
  const answers = await Promise.all(
    [
      `${place}/rows?from=-1`,
      `${place}/rows?from=1e3`,
      `${place}/rows?last=501`,
      `${place}/find?kind=none`,
      `${place}/event/x`,
      `${place}/event/3`,
      `/api/d/${encodeURIComponent(taskDir)}/none/rows`,
      `/api/d/${encodeURIComponent('../x')}/d1`,
      '/api/none',
    ].map(async (path) => (await get(path)).status),
  );
  expect(answers).toEqual([400, 400, 400, 400, 400, 404, 404, 503, 404]);
});

it('cuts long texts, between characters', async () => {
  const { dispatch, json } = await viewed(1);
  await dispatch.append({ type: 'agent:text', data: { text: '😀'.repeat(5_000) } });
  const { rows } = (await json(`${place}/rows?last=1`)) as Rows;
  const { text = '' } = rows[0] ?? {};
  expect([text.length <= 320, text.isWellFormed(), text.endsWith('…')]).toEqual([true, true, true]);
});

it('shows a call with its outcome on one row, wherever the window is', async () => {
  const { dispatch, json } = await viewed(650);
  const call = { tool: 'Bash', toolCallId: 'c1', target: 'npm test', metadata: {} };
  const noise = Array.from(
    { length: 120 },
    (): NewEvent => ({ type: 'session:status', data: { status: 'x' } }),
  );
  await dispatch.append([
    { type: 'agent:tool_call', agentId: 'a1', data: { ...call, input: { command: 'npm test' } } },
    ...noise,
    { type: 'agent:tool_result', agentId: 'a1', data: { ...call, status: 'error', error: 'one failed' } },
  ]);
  const calls = (await json(`${place}/rows?from=600&n=100`)) as Rows;
  expect(calls.rows.slice(-2)).toMatchObject([
    {
      position: 650,
      head: 'Bash npm test',
      text: '',
      outcome: 'one failed',
      isFailed: true,
      status: 'error',
    },
    { position: 651, kind: 'noise', text: '120 harness records: status' },
  ]);
  expect(await json(`${place}/rows?from=700&n=100`)).toEqual({ first: 700, size: 72, end: 771, rows: [] });
  expect(await json(`${place}/event/771`)).toMatchObject({
    event: { type: 'agent:tool_result' },
    events: [650, 771],
    words: { position: 650 },
  });
  expect(await json(`${place}/event/700`)).toMatchObject({ words: { position: 651 } });
});

it('answers the history up to an event as text, without anything later', async () => {
  const { dispatch, json, get } = await viewed(2_700);
  const call = { tool: 'Bash', toolCallId: 'c1', target: 'npm test', metadata: {} };
  await dispatch.append([
    { type: 'agent:tool_call', agentId: 'a1', data: { ...call, input: { command: 'npm test' } } },
    { type: 'agent:text', agentId: 'a1', data: { text: 'I wait \u202e.' } },
    { type: 'agent:tool_result', agentId: 'a1', data: { ...call, status: 'error', error: 'one failed' } },
  ]);
  const history = async (to: number) =>
    (await json(`${place}/history?to=${to}`)) as { readonly first: number; readonly text: string };
  const then = await history(2_701);
  expect(then.first).toBe(702);
  const lines = then.text.trimEnd().split('\n');
  expect(lines[0]).toBe('… 702 earlier events are left out …');
  expect(lines[1]).toContain('text 702');
  expect(lines.at(-2)).toContain('Bash npm test');
  expect(lines.at(-1)).toContain('I wait <U+202E>.');
  expect(then.text).not.toContain('one failed');
  expect((await history(2_702)).text).toContain('one failed');
  const begun = await history(3);
  expect([begun.first, begun.text.split('\n').length]).toEqual([0, 5]);
  for (const to of ['2703', 'x', '-1', ''])
    expect([to, (await get(`${place}/history?to=${to}`)).status]).toEqual([to, to === '2703' ? 404 : 400]);
});

it('cuts a long history at rows, and keeps the last row whole', async () => {
  const { dispatch, json } = await viewed(3);
  const long = 'x'.repeat(400_000);
  await dispatch.append(
    Array.from({ length: 4 }, (): NewEvent => ({ type: 'agent:text', data: { text: long } })),
  );
  const cut = (await json(`${place}/history?to=6`)) as { readonly first: number; readonly text: string };
  expect([cut.first, cut.text.split(long).length - 1]).toEqual([5, 2]);
  await dispatch.append({ type: 'agent:text', data: { text: long.repeat(3) } });
  const whole = (await json(`${place}/history?to=7`)) as { readonly first: number; readonly text: string };
  expect([whole.first, whole.text.includes(long.repeat(3))]).toEqual([7, true]);
});

const svg = Buffer.from('<svg onload="alert(1)"/>');
const sha256 = createHash('sha256').update(svg).digest('hex');

/** What is wrong in the answers for a content. The type is what a page asks for, not what the bytes are. */
async function wrongContents(startViewer: typeof createViewer): Promise<string[]> {
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId: 'd1', fidelity: 'full' });
  const parts = [{ kind: 'image' as const, mediaType: 'image/svg+xml', base64: svg.toString('base64') }];
  await dispatch.append(newEvent('user:message', { text: 'look', source: { kind: 'user' }, parts }));
  const wrong = 'f'.repeat(64);
  const data = { sha256: wrong, size: 3, base64: 'AAAA' };
  await dispatch.append({ ...newEvent('content:stored', data), id: wrong, timestamp: null });
  const { get } = await startedViewer(store, startViewer);
  const found: string[] = [];
  const check = (what: string, is: unknown, right: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(right)) found.push(`${what}: ${JSON.stringify(is)}`);
  };
  for (const [type, contentType, disposition] of [
    ['image/png', 'image/png', null],
    ['image/svg+xml', 'application/octet-stream', 'attachment'],
    ['text/html', 'application/octet-stream', 'attachment'],
    ['', 'application/octet-stream', 'attachment'],
  ] as const) {
    const answer = await get(`${place}/content/${sha256}?type=${encodeURIComponent(type)}`);
    const { headers } = answer;
    const facts = [answer.status, headers.get('content-type'), headers.get('content-disposition')];
    check(`the answer for ${type}`, facts, [200, contentType, disposition]);
    check('the bytes', Buffer.from(await answer.arrayBuffer()).toString(), svg.toString());
    check('sniffing', headers.get('x-content-type-options'), 'nosniff');
    const policy = headers.get('content-security-policy') ?? '';
    check(
      'the policy',
      [policy.includes("default-src 'none'"), policy.includes('img-src data:;')],
      [true, true],
    );
  }
  check('none', (await get(`${place}/content/${'0'.repeat(64)}?type=image/png`)).status, 404);
  const damaged = await get(`${place}/content/${wrong}?type=image/png`);
  const { code } = (await damaged.json()) as { code?: string };
  check('damaged bytes', [damaged.status, code], [503, 'STORE_CORRUPT']);
  return found;
}

it('gives the bytes of a content, as an image only if its type is safe', async () => {
  expect(await wrongContents(createViewer)).toEqual([]);
});

it.each([
  ['any type is shown', 'server/routes.ts', 'shownImages.has(type)', "type !== ''"],
  ['an SVG is shown', 'answers.ts', "'image/webp'", "'image/webp', 'image/svg+xml'"],
  ['nothing is a download', 'server/routes.ts', 'if (!isImage) context.header', 'if (false) context.header'],
  ['the policy lets pages load images', 'server/guard.ts', "'img-src data:'", "'img-src *'"],
  ['a missing content is empty', 'server/routes.ts', 'if (base64 === null) return context.notFound();', ''],
] as const)('catches that %s', async (_, file, piece, instead) => {
  const home = join(import.meta.dirname, '..');
  const broken = (await importMutated(home, [file, piece, instead], 'index.ts')) as {
    createViewer: typeof createViewer;
  };
  expect(await wrongContents(broken.createViewer)).not.toEqual([]);
});

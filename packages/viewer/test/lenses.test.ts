import type { NewEvent } from '@hansard/events';
import { randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';
import type { DialogAnswer, HeardAnswer, PerspectiveAnswer, TalkLine, TreeAnswer } from '../src/answers.ts';
import { openStore, startedViewer, taskDir } from './viewed.ts';

const place = `/api/d/${encodeURIComponent(taskDir)}/d1`;

/** One thing that was said, as the generator decided it. */
interface Said {
  readonly position: number;
  readonly speaker: string;
  readonly text: string;
  readonly receivers: readonly string[];
}

/** A talk of three agents, in which most texts are equal. The generator decides who receives what. */
function randomTalk(turns: number, seed: number): { events: NewEvent[]; said: Said[] } {
  const random = randomFrom(seed);
  const agents = ['a1', 'a2', 'a3'];
  const events: NewEvent[] = agents.map((agentId, at) => ({
    type: 'agent:created',
    agentId,
    data: { name: ['Ada', 'Ben', 'Cleo'][at] ?? '', languageModel: 'm' },
  }));
  const said: Said[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const speaker = agents[Math.floor(random() * 3)] ?? '';
    const text = random() < 0.8 ? 'Aye.' : `Turn ${turn}.`;
    const receivers = agents.filter((agent) => agent !== speaker && random() < 0.5);
    const id = `said-${turn}`;
    said.push({ position: events.length, speaker, text, receivers });
    events.push({ id, type: 'agent:text', agentId: speaker, messageId: `m${turn}`, data: { text } });
    for (const agentId of receivers)
      events.push({
        type: 'user:message',
        agentId,
        substance: id,
        data: { text, source: { kind: 'agent', agentId: speaker } },
      });
  }
  return { events, said };
}

const names: Readonly<Record<string, string>> = { a1: 'Ada', a2: 'Ben', a3: 'Cleo' };

async function talking(turns: number, seed = 1) {
  const store = await openStore();
  const dispatch = await store.beginDispatch(taskDir, { role: 'w', dispatchId: 'd1' });
  const { events, said } = randomTalk(turns, seed);
  await dispatch.append(events);
  return { store, dispatch, said, ...(await startedViewer(store)) };
}

/** A line of a conversation as it is shown. */
function shown({ position, spans, blocks }: TalkLine) {
  return {
    position,
    head: spans.map(({ text }) => text).join(' '),
    texts: blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : [])),
    notes: blocks.flatMap((block) =>
      block.kind === 'note' ? [block.spans.map(({ text }) => text).join(' ')] : [],
    ),
  };
}

/** All lines of an answer, page by page from the end. */
async function allLines<Line>(
  json: (path: string) => Promise<unknown>,
  path: string,
  field = '?',
): Promise<Line[]> {
  const lines: Line[] = [];
  for (let end: number | null = null; end !== 0; ) {
    const answer = (await json(`${path}${end === null ? '' : `${field}end=${end}`}`)) as {
      lines: Line[];
      earlier: number;
    };
    expect(answer.lines.length).toBeLessThanOrEqual(200);
    lines.unshift(...answer.lines);
    end = answer.earlier;
  }
  return lines;
}

it('shows who said what to whom, and who was present and did not hear it, page by page', async () => {
  const { json, said } = await talking(450);
  const lines = await allLines<DialogAnswer['lines'][number]>(json, `${place}/dialog`);
  expect(lines.map(shown)).toEqual(
    said.map(({ position, speaker, text, receivers }) => {
      const missed = Object.keys(names).filter((id) => id !== speaker && !receivers.includes(id));
      const named = (ids: readonly string[]) => ids.map((id) => names[id]).join(', ');
      const notes = [
        ...(receivers.length === 0 ? [] : [`heard by ${named(receivers)}`]),
        ...(receivers.length === 0 || missed.length === 0 ? [] : [`not heard by ${named(missed)}`]),
      ];
      return { position, head: names[speaker], texts: [text], notes };
    }),
  );
  const pair = await allLines<DialogAnswer['lines'][number]>(json, `${place}/dialog?agent=a1&agent=a2`, '&');
  const isOfPair = ({ speaker, receivers }: Said) =>
    speaker !== 'a3' || (receivers.includes('a1') && receivers.includes('a2'));
  expect(pair.map(({ position }) => position)).toEqual(said.filter(isOfPair).map(({ position }) => position));
  expect(pair.length).toBeLessThan(said.length);
});

it('shows who heard each saying, and the perspective of one agent', async () => {
  const { json, said } = await talking(60, 2);
  const { agents, lines, first, end, notes } = (await json(`${place}/heard`)) as HeardAnswer;
  expect(agents.map(({ name }) => name)).toEqual(['Ada', 'Ben', 'Cleo']);
  expect([first, notes]).toEqual([0, []]);
  expect(lines.map(({ cells }) => cells)).toEqual(
    said.map(({ speaker, receivers }) =>
      Object.keys(names).map((id) => (id === speaker ? 'said' : receivers.includes(id) ? 'same' : '·')),
    ),
  );
  const seen = (await json(`${place}/perspective?agent=a2`)) as PerspectiveAnswer;
  expect(seen.end).toBe(end);
  const heard = said.filter(({ receivers }) => receivers.includes('a2'));
  expect(seen.lines.filter((line) => shown(line).head.startsWith('heard')).length).toBe(heard.length);
  expect(seen.lines.filter((line) => shown(line).head === 'said').map(({ position }) => position)).toEqual(
    said.filter(({ speaker }) => speaker === 'a2').map(({ position }) => position),
  );
  expect(seen.agents.map(({ id }) => id)).toEqual(['a1', 'a2', 'a3']);
  // Nobody is chosen: the first one.
  expect(await json(`${place}/perspective`)).toMatchObject({ agentId: 'a1' });
});

it('shows what came since, at once', async () => {
  const { json, dispatch } = await talking(3);
  const before = (await json(`${place}/dialog`)) as DialogAnswer;
  await dispatch.append({ type: 'agent:text', agentId: 'a1', data: { text: `${'é'.repeat(4_000)}!` } });
  const after = (await json(`${place}/dialog`)) as DialogAnswer;
  expect([after.lines.length, after.end]).toEqual([before.lines.length + 1, before.end + 1]);
  expect(after.lines.at(-1)).toMatchObject({ blocks: [{ text: `${'é'.repeat(4_000)}…` }] });
});

it('says what it did not read of a long log, and not who did not hear', async () => {
  const { json, dispatch } = await talking(1);
  for (let at = 0; at < 6; at += 1)
    await dispatch.append(
      Array.from({ length: 10_000 }, (): NewEvent => ({ type: 'session:status', data: { status: 'x' } })),
    );
  const last = await dispatch.append({
    id: 'late',
    type: 'agent:text',
    agentId: 'a1',
    data: { text: 'Late.' },
  });
  await dispatch.append({
    type: 'user:message',
    agentId: 'a2',
    substance: last.id,
    data: { text: 'Late.', source: { kind: 'agent', agentId: 'a1' } },
  });
  const { first, end, notes, lines } = (await json(`${place}/dialog`)) as DialogAnswer;
  expect(first).toBe(end - 50_000);
  expect(notes).toEqual([expect.stringContaining(`the last 50000 of ${end} events`)]);
  expect(lines.map(shown)).toEqual([
    { position: end - 2, head: 'Ada', texts: ['Late.'], notes: ['heard by Ben'] },
  ]);
  expect(lines[0]?.blocks[1]).toMatchObject({ spans: [{ text: 'heard by' }, { position: end - 1 }] });
});

it('shows the dispatches of a task as trees, with what they cost', async () => {
  const { store, json, dispatch } = await talking(1);
  const child = await dispatch.beginChild({ role: 'scout', dispatchId: 'd2', title: 'Look around' });
  await child.end({ status: 'completed', cost: 0.25 });
  await dispatch.end({ status: 'completed', cost: 1 });
  await store.beginDispatch('lab/tasks/other', { role: 'w' });
  const { lines, isCut, cost, notes } = (await json(
    `/api/tree?task=${encodeURIComponent(taskDir)}`,
  )) as TreeAnswer;
  expect([isCut, cost, notes]).toEqual([false, '$1.25', []]);
  expect(lines).toMatchObject([
    { dispatchId: 'd1', depth: 0, name: 'w', status: 'completed', cost: '$1.00', subtreeCost: '$1.25' },
    { dispatchId: 'd2', depth: 1, name: 'Look around', status: 'completed', subtreeCost: null },
  ]);
  expect(await json('/api/tree?task=none')).toMatchObject({ lines: [] });
});

it('refuses unknown agents and lines, in words', async () => {
  const { get } = await talking(1);
  const answers = await Promise.all(
    ['/dialog?agent=none', '/perspective?agent=none', '/heard?end=-1', '/heard?end=x'].map(
      async (path) => (await get(`${place}${path}`)).status,
    ),
  );
  expect(answers).toEqual([404, 404, 400, 400]);
  expect((await get(`/api/d/${encodeURIComponent(taskDir)}/none/heard`)).status).toBe(404);
});

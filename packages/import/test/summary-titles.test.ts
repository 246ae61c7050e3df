import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder, lines } from './logs.ts';

const task = 'lab/tasks/titles';
const uuid = (session: number, number: number) =>
  `0000000${session}-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** A prompt, by the number of its session and its own. */
const asks = (session: number, number: number, content = `Prompt ${number} of ${session}`) => ({
  type: 'user',
  parentUuid: number === 1 ? null : uuid(session, number - 1),
  isSidechain: false,
  cwd: '/srv/shop',
  sessionId: `session-${session}`,
  uuid: uuid(session, number),
  timestamp: new Date(
    Date.parse('2026-03-01T09:30:00.000Z') + (session * 100 + number) * 1_000,
  ).toISOString(),
  message: { role: 'user', content },
});
const summary = (leafUuid: string, text: string) => ({ type: 'summary', summary: text, leafUuid });
const customTitle = (session: number, text: string) => ({
  type: 'custom-title',
  customTitle: text,
  sessionId: `session-${session}`,
});

class Sessions implements AsyncDisposable {
  readonly folder = new LogFolder();
  readonly store: DispatchStore = openDispatchStore(createMemoryStore());

  /** Writes the file of a session and imports it. */
  async import(session: number, ...records: object[]): Promise<void> {
    const path = this.folder.put(`session-${session}.jsonl`, lines(...records));
    const items = await importAll(this.store, [path], { task });
    expect(items.filter(({ kind }) => kind === 'failed')).toEqual([]);
  }

  /** The titles of all sessions, in the order of their first prompts. */
  async titles(): Promise<(string | null)[]> {
    return (await this.store.getDispatchEnvelopes(task)).map(({ title }) => title);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.folder[Symbol.dispose]();
    await this.store.close();
  }
}

describe('a summary in another session', () => {
  it('names the session whose last message it gives, whichever is imported first', async () => {
    const owls = [asks(1, 1), asks(1, 2)];
    const cats = [summary(uuid(1, 2), 'Owl facts'), asks(2, 1)];
    await using early = new Sessions();
    await early.import(1, ...owls);
    await early.import(2, ...cats);
    expect(await early.titles()).toEqual(['Owl facts', 'Prompt 1 of 2']);
    await using late = new Sessions();
    await late.import(2, ...cats);
    expect(await late.titles()).toEqual(['Prompt 1 of 2']);
    await late.import(1, ...owls);
    expect(await late.titles()).toEqual(['Owl facts', 'Prompt 1 of 2']);
  });

  it('leaves a title that the session was given, by its log or by a program', async () => {
    await using sessions = new Sessions();
    await sessions.import(1, asks(1, 1), customTitle(1, 'Mine'));
    await sessions.import(2, asks(2, 1));
    const [, second] = await sessions.store.getDispatchEnvelopes(task);
    const ref = { taskDir: task, dispatchId: second?.dispatchId ?? '' };
    {
      await using dispatch = await sessions.store.openDispatch(ref, { write: true });
      await dispatch.update({ title: 'Of a program' });
      await dispatch.release();
    }
    await sessions.import(3, summary(uuid(1, 1), 'One'), summary(uuid(2, 1), 'Two'), asks(3, 1));
    expect(await sessions.titles()).toEqual(['Mine', 'Of a program', 'Prompt 1 of 3']);
  });

  it('leaves a title that a program gave after it', async () => {
    await using sessions = new Sessions();
    await sessions.import(1, asks(1, 1));
    await sessions.import(2, summary(uuid(1, 1), 'One'), asks(2, 1));
    const [first] = await sessions.store.getDispatchEnvelopes(task);
    const ref = { taskDir: task, dispatchId: first?.dispatchId ?? '' };
    {
      await using dispatch = await sessions.store.openDispatch(ref, { write: true });
      await dispatch.update({ title: 'Of a program' });
      await dispatch.release();
    }
    await sessions.import(1, asks(1, 1), asks(1, 2));
    expect(await sessions.titles()).toEqual(['Of a program', 'Prompt 1 of 2']);
  });

  it('names neither of two sessions that end with the same message', async () => {
    await using sessions = new Sessions();
    await sessions.import(1, asks(1, 1, 'First'));
    await sessions.import(3, summary(uuid(1, 1), 'Owl facts'), asks(3, 1));
    expect(await sessions.titles()).toEqual(['Owl facts', 'Prompt 1 of 3']);
    await sessions.import(2, { ...asks(2, 1, 'Second'), uuid: uuid(1, 1) });
    expect(await sessions.titles()).toEqual(['First', 'Second', 'Prompt 1 of 3']);
  });

  it('becomes one short line without markup', async () => {
    await using sessions = new Sessions();
    const hostile = `<b>Owl</b>\u001b[31m\n${'x'.repeat(5_000)}`;
    await sessions.import(1, asks(1, 1));
    await sessions.import(2, summary(uuid(1, 1), hostile), summary('', 'None'), asks(2, 1));
    const [title = ''] = await sessions.titles();
    expect(title).toBe('Owl [31m…');
  });
});

describe('titles after random imports', () => {
  const seed = Number(process.env.HANSARD_SEED ?? 20_261_126);
  it.each(Array.from({ length: 40 }, (_, at) => seed + at))(
    'are those of one import of everything (seed %i)',
    async (own) => {
      const random = randomFrom(own);
      const below = (count: number) => Math.floor(random() * count);
      await using sessions = new Sessions();
      // What each file has in the end: summaries first, as Claude Code writes them, or anywhere.
      const lengths = Array.from({ length: 4 }, () => 1 + below(3));
      const summaries = lengths.map(() =>
        Array.from({ length: below(3) }, () => {
          const about = below(lengths.length);
          return { about, at: 1 + below(lengths[about] ?? 1) };
        }),
      );
      const given = lengths.map(() => random() < 0.2);
      const files = lengths.map((length, session) => [
        ...(summaries[session] ?? []).map(({ about, at }) => summary(uuid(about, at), `By ${session}`)),
        ...Array.from({ length }, (_, at) => asks(session, at + 1)),
        ...(given[session] ? [customTitle(session, `Given ${session}`)] : []),
      ]);
      const done = files.map(() => 0);
      while (done.some((count, session) => count < (files[session]?.length ?? 0))) {
        const session = below(files.length);
        const records = files[session] ?? [];
        // The first import has a prompt.
        const least = Math.max((done[session] ?? 0) + 1, (summaries[session]?.length ?? 0) + 1);
        if (least > records.length) continue;
        done[session] = least + below(records.length - least + 1);
        await sessions.import(session, ...records.slice(0, done[session]));
      }
      const expected = lengths.map((length, session) => {
        if (given[session]) return `Given ${session}`;
        const by = summaries.flatMap((list, of) =>
          list.some(({ about, at }) => about === session && at === length) ? [of] : [],
        );
        const allowed = by.map((of) => `By ${of}`);
        return allowed.length === 0 ? [`Prompt 1 of ${session}`] : allowed;
      });
      for (const [session, title] of (await sessions.titles()).entries())
        expect([expected[session]].flat()).toContain(title);
    },
  );
});

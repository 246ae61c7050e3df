import { openDispatchStore, type StoredLetter } from '@hansard/dispatch';
import { type DispatchEnvelope, type DispatchLetter, newEvent } from '@hansard/events';
import { createRedactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';

const taskDir = 'lab/tasks/lamps';
const dispatchId = 'D1';
const place = { taskDir, dispatchId };
const inbox = `_hansard/inbox/${dispatchId}`;
const secret = 'AKIAQ7RZ2LMN4PQR6STU';

async function lettersIn(of: AsyncIterable<StoredLetter>): Promise<StoredLetter[]> {
  const letters: StoredLetter[] = [];
  for await (const letter of of) letters.push(letter);
  return letters;
}

/** The envelope of a letter, as another program could write it. */
function envelopeOf(letterId: string, letter: unknown, others: object = {}) {
  const at = '2026-03-01T09:00:00.000Z';
  const unknown = { title: null, model: null, cwd: null, ended: null, cost: null, usage: null, models: null };
  const none = { periods: null, prices: null, openCalls: null, folded: null, structuredResult: null };
  const facts = { taskSlug: dispatchId, role: 'letter', startedAt: at, completedAt: at, status: 'completed' };
  const rest = { source: null, parentDispatchId: null, botId: null, fidelity: 'narrative', schemaVersion: 1 };
  return {
    dispatchId: letterId,
    ...unknown,
    ...none,
    ...facts,
    ...rest,
    letter,
    ...others,
  } as DispatchEnvelope;
}

const letterOf = (from: string, fields: object = {}): DispatchLetter => ({
  from,
  taskDir,
  source: { kind: 'user' },
  text: 'Stop.',
  ...fields,
});

describe('letters', () => {
  it('are in no listing, are redacted before they are written, and are deleted with the session', async () => {
    const store = openDispatchStore(createMemoryStore(), { redact: createRedactor() });
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
    const letter = await store.sendLetter(place, { text: `key ${secret}`, agentId: 'agent_999' });
    expect(letter.text).toMatch(/^key \[REDACTED:[a-z-]+\]$/);
    const same = { text: 'Twice.', from: 'letter_twice', agentId: 'agent_999' };
    await store.sendLetter(place, same);
    await store.sendLetter(place, same);
    await expect(store.sendLetter(place, { ...same, text: 'Other.' })).rejects.toMatchObject({
      code: 'STORE_DISPATCH_EXISTS',
    });
    await dispatch.end({ status: 'completed' });
    expect((await store.listDispatches()).dispatches).toHaveLength(1);
    expect((await store.listTasks()).map((task) => task.taskDir)).toEqual([taskDir]);
    expect(await lettersIn(store.readLetters(place))).toHaveLength(2);
    expect(await lettersIn(store.readLetters({ taskDir }))).toHaveLength(2);
    await store.deleteDispatch(place);
    expect(await lettersIn(store.readLetters())).toEqual([]);
    expect(await store.getDispatchEnvelopes(inbox)).toEqual([]);
  });

  it('reach a dispatch whose task, id or agent looks like a secret, or whose id ends with a dot', async () => {
    const store = openDispatchStore(createMemoryStore(), { redact: createRedactor() });
    for (const to of [
      { taskDir: `lab/${secret}`, dispatchId: 'D1' },
      { taskDir, dispatchId: secret },
      { taskDir, dispatchId: 'D1.' },
    ]) {
      await store.beginDispatch(to.taskDir, { role: 'worker', dispatchId: to.dispatchId });
      const sent = await store.sendLetter(to, { text: 'Stop.', agentId: `agent_${secret}` });
      expect(sent).toMatchObject({ taskDir: to.taskDir, agentId: `agent_${secret}` });
      expect(await lettersIn(store.readLetters(to))).toMatchObject([{ to, letter: sent, error: null }]);
    }
    await store.close();
  });

  it('are refused with a code if they have wrong types, no text, too much text, or an id that events have', async () => {
    const store = openDispatchStore(createMemoryStore(), { redact: createRedactor() });
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
    const { id } = await dispatch.append(newEvent('agent:text', { text: 'Here.' }));
    const refused: readonly [fields: object, code: string][] = [
      [{ text: 7 }, 'EVENT_ENVELOPE_INVALID'],
      [{ text: ['Stop.'] }, 'EVENT_ENVELOPE_INVALID'],
      [{ text: 'Stop.', from: id }, 'EVENT_ENVELOPE_INVALID'],
      [{ text: 'Stop.', from: 'letter_../../D1' }, 'EVENT_ENVELOPE_INVALID'],
      [{ text: 'Stop.', from: `letter_${'x'.repeat(200)}` }, 'EVENT_ENVELOPE_INVALID'],
      [{ text: 'Stop.', agentId: 'a b' }, 'EVENT_ENVELOPE_INVALID'],
      [{ text: 'Stop.', source: { kind: secret } }, 'EVENT_ENVELOPE_INVALID'],
      [{ text: 'Stop.', source: null }, 'EVENT_ENVELOPE_INVALID'],
      [{ text: ' ' }, 'DISPATCH_LETTER_REFUSED'],
      [{}, 'DISPATCH_LETTER_REFUSED'],
      [{ text: 'x'.repeat(1_048_577) }, 'DISPATCH_LETTER_REFUSED'],
    ];
    for (const [fields, code] of refused) {
      const failed = store.sendLetter(place, fields);
      await expect(failed, JSON.stringify(fields).slice(0, 60)).rejects.toMatchObject({ code });
      await expect(failed).rejects.not.toThrow(secret);
    }
    expect(await lettersIn(store.readLetters())).toEqual([]);
    await store.close();
  });

  it('keep their reason if they cannot be taken, and no other letter is hidden', async () => {
    const provider = createMemoryStore();
    const store = openDispatchStore(provider);
    await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
    const put = (id: string, letter: unknown, others?: object, task = inbox) =>
      provider.createDispatch(task, envelopeOf(id, letter, others));
    await put('letter_1', letterOf('letter_1'), { schemaVersion: 2 });
    await put('letter_2', letterOf('letter_1'));
    await put('letter_3', undefined);
    await put('letter_4', letterOf('letter_4', { text: 'x'.repeat(1_048_577) }));
    await put('letter_5', letterOf('letter_5', { taskDir: 'lab/tasks/others' }));
    await put('letter_6', letterOf('letter_6'), {}, '_hansard/others');
    const sent = await store.sendLetter(place, { text: 'Go on.' });
    const found = await lettersIn(store.readLetters(place));
    expect(found.filter(({ letter }) => letter !== null)).toMatchObject([{ letter: sent }]);
    const reasons = (all: readonly StoredLetter[]) =>
      Object.fromEntries(
        all.flatMap(({ letterId, error }) => (error === null ? [] : [[letterId, error.details.reason]])),
      );
    expect(reasons(found)).toEqual({
      letter_1: 'its version is 2, and this program knows 1',
      letter_2: 'it is stored under another id than its own',
      letter_3: 'its envelope has no letter',
      letter_4: 'its text has 1048577 characters, and the limit is 1048576',
    });
    const all = await lettersIn(store.readLetters());
    expect(reasons(all)).toMatchObject({ letter_6: 'it is in no inbox' });
    expect(all.find(({ letterId }) => letterId === 'letter_5')?.to?.taskDir).toBe('lab/tasks/others');
    await store.close();
  });

  it('are redacted with their session, under its claim, together with the event that repeats them', async () => {
    const provider = createMemoryStore();
    const store = openDispatchStore(provider);
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
    const { from } = await store.sendLetter(place, { text: `key ${secret}` });
    await store.sendLetter(place, { text: 'No secret.' });
    await dispatch.append(
      newEvent('user:message', { text: `key ${secret}`, source: { kind: 'user' } }, { id: from }),
    );
    const redactor = createRedactor();
    await dispatch.release();
    await expect(store.redactDispatch(place, redactor)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    const again = await store.openDispatch(place, { write: true });
    await again.end({ status: 'completed' });
    await expect(store.redactDispatch({ taskDir: inbox, dispatchId: from }, redactor)).rejects.toMatchObject({
      code: 'STORE_INVALID_PATH',
    });
    // The event is the title of the session, too.
    const { letters, events, counts } = await store.redactDispatch(place, redactor);
    expect({ letters, events, found: Object.values(counts) }).toEqual({ letters: 1, events: 1, found: [3] });
    const everything = JSON.stringify([
      await store.getDispatchEvents(place),
      await lettersIn(store.readLetters()),
    ]);
    expect(everything).not.toContain(secret);
    expect(await provider.getDispatchEvents(inbox, from)).toEqual([]);
    expect(await store.redactDispatch(place, redactor)).toMatchObject({ letters: 0, events: 0, counts: {} });
    const stored = (await lettersIn(store.readLetters(place)))[0]?.letter;
    expect(stored?.from).toBe(from);
    expect(await store.findLetter(place, stored as DispatchLetter)).toBe('taken');
    await store.close();
  });

  it('do not outlive their session if they are written while it is deleted: the deletion looks again', async () => {
    const store = openDispatchStore(
      changedStore((good) => ({
        deleteDispatch(task: string, id: string) {
          if (id === dispatchId)
            good.createDispatch(inbox, envelopeOf('letter_late', letterOf('letter_late')));
          return good.deleteDispatch?.(task, id);
        },
      })),
    );
    await (await store.beginDispatch(taskDir, { role: 'worker', dispatchId })).release();
    await store.sendLetter(place, { text: 'In time.' });
    await store.deleteDispatch(place);
    expect(await lettersIn(store.readLetters())).toEqual([]);
  });

  it('do not outlive their session if it was deleted before they are written: the sender looks again', async () => {
    const store = openDispatchStore(
      changedStore((good) => ({
        async createDispatch(task: string, envelope: DispatchEnvelope) {
          // The sender has read the session.
          if (task === inbox) await good.deleteDispatch?.(taskDir, dispatchId);
          await good.createDispatch(task, envelope);
        },
      })),
    );
    await (await store.beginDispatch(taskDir, { role: 'worker', dispatchId })).release();
    await expect(store.sendLetter(place, { text: 'Late.' })).rejects.toMatchObject({
      code: 'STORE_DISPATCH_NOT_FOUND',
    });
    expect(await lettersIn(store.readLetters())).toEqual([]);
  });

  it('cannot be opened or begun as sessions, and one is deleted only while nobody else writes its session', async () => {
    const provider = createMemoryStore();
    const store = openDispatchStore(provider);
    const dispatch = await store.beginDispatch(taskDir, { role: 'worker', dispatchId });
    const { from } = await store.sendLetter(place, { text: 'Stop.' });
    const letter = { taskDir: inbox, dispatchId: from };
    const refusal = { code: 'STORE_INVALID_PATH' };
    await expect(store.openDispatch(letter, { write: true })).rejects.toMatchObject(refusal);
    await expect(store.beginDispatch(inbox, { role: 'worker' })).rejects.toMatchObject(refusal);
    await dispatch.end({ status: 'completed' });
    await store.deleteDispatch(letter);
    expect(await lettersIn(store.readLetters())).toEqual([]);
    await store.close();
  });
});

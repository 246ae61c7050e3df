import { type Dispatch, type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, type NewEvent, newEvent } from '@hansard/events';
import { createRedactor, type Redactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { foundIn, type SecretCanary, sampleEventOfEachType, secretCanaries } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { begin, say, task } from '../support/route-models.ts';

const seed = 1_505;
const redactor = createRedactor();

function open(redact: Redactor | (() => Promise<Redactor>) | null = redactor): DispatchStore {
  return openDispatchStore(createMemoryStore(), redact === null ? {} : { redact });
}

interface Fault {
  readonly leaked: readonly SecretCanary[];
  /** Events whose counts are not those of what was planted. */
  readonly miscounted: readonly CapturedEvent[];
}

/** Records one event of each type for each way to issue a secret, and looks for the secrets in what is stored. */
async function recordCanaries(redact: Redactor | null): Promise<Fault & { readonly planted: number }> {
  const { all, plant } = secretCanaries(seed);
  const store = open(redact);
  const dispatch = await store.beginDispatch(task, { role: 'worker', fidelity: 'full' });
  const leaked: SecretCanary[] = [];
  const miscounted: CapturedEvent[] = [];
  let planted = 0;
  for (const event of sampleEventOfEachType()) {
    const canaries = all();
    const batch = canaries.map((canary, index) =>
      plant({ ...event, id: `${event.id}.${index}` }, () => canary),
    );
    await dispatch.append(batch.map((one) => one.event));
    const stored = (await dispatch.last(batch.length)).events;
    for (const [index, one] of stored.entries()) {
      const own = batch[index]?.canaries ?? [];
      planted += own.length;
      leaked.push(...foundIn(JSON.stringify(one), own.slice(0, 1)));
      const { kind } = canaries[index] as SecretCanary;
      const counts = one.data.redactions ?? {};
      // The next text of a list continues a private key without its end.
      const continues = kind === 'private-key' && Object.values(event.data).some(Array.isArray);
      if (own.length > 0 && !continues && JSON.stringify(counts) !== JSON.stringify({ [kind]: own.length }))
        miscounted.push(one);
    }
  }
  return { leaked, miscounted, planted };
}

describe('events of a store that redacts', () => {
  it('have no secret in any text or key, and count what was replaced', async () => {
    const { leaked, miscounted, planted } = await recordCanaries(redactor);
    expect(planted).toBeGreaterThan(9_000);
    expect(leaked).toEqual([]);
    expect(miscounted).toEqual([]);
  });

  it.each<readonly [mutant: string, Redactor | null, keyof Fault]>([
    ['no redaction', null, 'leaked'],
    ['events as they are given', { ...redactor, event: (event) => event }, 'leaked'],
    [
      'one kind less',
      {
        ...redactor,
        event: (event) => (JSON.stringify(event).includes('npm_') ? event : redactor.event(event)),
      },
      'leaked',
    ],
    [
      'no counts',
      {
        ...redactor,
        event: (event) => {
          const redacted = redactor.event(event);
          const { redactions: _, ...data } = redacted.data;
          return { ...redacted, data };
        },
      },
      'miscounted',
    ],
  ])('would be found to leak or to count wrong with the mutant: %s', async (_, mutant, fault) => {
    expect((await recordCanaries(mutant))[fault]).not.toEqual([]);
  });

  it('are narrowed after they are redacted, and keep their counts', async () => {
    const { all } = secretCanaries(seed);
    const canaries = all();
    const dispatch = await open().beginDispatch(task, { role: 'worker' });
    for (const { text, kind, needle } of canaries) {
      // A line that is cut at its 200th character would cut the secret.
      for (let place = 170; place <= 200; place += 10) {
        const input = { command: text };
        const target = `${'-'.repeat(place)}${text}`;
        const call = newEvent('agent:tool_call', {
          toolCallId: 'c',
          tool: 'Bash',
          target,
          metadata: {},
          input,
        });
        const { data } = await dispatch.append(call);
        expect(data.input).toBeUndefined();
        expect(data.redactions).toEqual({ [kind]: 2 });
        expect(JSON.stringify(data)).not.toContain(needle.slice(-8));
      }
    }
  });

  it('are published as they are stored', async () => {
    const { any } = secretCanaries(seed);
    const published: unknown[] = [];
    const record = (notice: unknown) => void published.push(notice);
    const communication = {
      dispatchStarted: record,
      eventRecorded: record,
      deltaReceived: record,
      dispatchEnded: record,
    };
    const canaries = Array.from({ length: 20 }, any);
    const dispatch = await open().beginDispatch(
      task,
      { role: 'worker', title: canaries[0]?.text },
      { communication: communication as never },
    );
    dispatch.announce([{ agentId: 'a', name: canaries[1]?.text ?? '' } as never]);
    for (const { text } of canaries) await dispatch.append(say(text));
    await dispatch.end({ status: 'completed', structuredResult: { said: canaries[2]?.text ?? '' } });
    expect(published).toHaveLength(22);
    expect(foundIn(JSON.stringify(published), canaries)).toEqual([]);
  });
});

describe('other records of a store that redacts', () => {
  it('have no secret in any text: envelopes, changes to them, found titles and task records', async () => {
    const { any } = secretCanaries(seed);
    const canaries: SecretCanary[] = [];
    const plant = () => {
      const canary = any();
      canaries.push(canary);
      return canary.text;
    };
    const store = open();
    for (let round = 0; round < 40; round += 1) {
      const dispatch = await store.beginDispatch(task, {
        role: plant(),
        title: round % 2 === 0 ? null : plant(),
        model: plant(),
        cwd: plant(),
        botId: plant(),
        source: { format: 'x', files: [{ name: plant(), bytes: 1, modifiedAt: 1 }], kept: [plant()] },
      });
      await dispatch.append(newEvent('user:message', { text: plant(), source: { kind: 'user' } }));
      const updated = await dispatch.update({ structuredResult: { [plant()]: plant() }, cwd: plant() });
      expect(foundIn(JSON.stringify(updated), canaries)).toEqual([]);
      const ended = await dispatch.end({ status: 'completed', structuredResult: [plant()] });
      expect(ended.title).toContain('[REDACTED:');
      await store.putTask(task, {
        slug: 'route-models',
        name: plant(),
        project: plant(),
        status: plant(),
        created: ended.startedAt ?? '',
      });
      const stored = [await store.getDispatchEnvelopes(task), await store.findTask(task)];
      expect(foundIn(JSON.stringify(stored), canaries)).toEqual([]);
    }
    expect(canaries.length).toBeGreaterThan(400);
  });

  it('have none in an error that refuses an event, an envelope or a task record', async () => {
    const { any } = secretCanaries(seed);
    const store = open();
    const dispatch = await begin(store);
    const refusals: readonly ((text: string) => Promise<unknown>)[] = [
      (text) => dispatch.append({ type: text } as never),
      (text) => dispatch.append({ type: 'agent:text', data: text } as never),
      (text) => dispatch.append(newEvent('agent:tool_result', { status: text } as never)),
      (text) => dispatch.append(say({ text, at: () => 1 } as never)),
      (text) => dispatch.append({ ...say('a'), id: text }),
      (text) => dispatch.update({ status: text as never }),
      (text) => dispatch.update({ cost: text as never }),
      (text) => store.beginDispatch(task, { role: 'worker', fidelity: text as never }),
      (text) => store.putTask(task, { slug: 1, name: text } as never),
    ];
    for (const refused of refusals)
      for (let round = 0; round < 20; round += 1) {
        const canary = any();
        const error = await refused(canary.text).then(
          () => expect.unreachable(),
          (thrown: Error & { details: unknown }) => thrown,
        );
        expect(error).toHaveProperty('code', expect.stringMatching(/^EVENT_/));
        const shown = `${error.message} ${error.stack} ${JSON.stringify(error.details)} ${error.cause ?? ''}`;
        expect(foundIn(shown, [canary])).toEqual([]);
      }
  });

  it('load the redactor once, before the first write, and not to read', async () => {
    let loaded = 0;
    const store = open(async () => {
      loaded += 1;
      return redactor;
    });
    await store.listTasks();
    await store.findDispatch({ taskDir: task, dispatchId: 'none' });
    expect(loaded).toBe(0);
    const dispatches: Dispatch[] = [await begin(store), await begin(store)];
    const { any } = secretCanaries(seed);
    const { text, needle } = any();
    for (const dispatch of dispatches)
      expect((await dispatch.append(say(text))).data.text).not.toContain(needle);
    expect(loaded).toBe(1);
  });
});

describe('an event that is appended again under other patterns', () => {
  const known: NewEvent = {
    ...say('acme_1234 and other_5678 are here'),
    id: 'e1',
    timestamp: '2026-03-01T09:00:00.000Z',
  };
  const patterns = (...kinds: readonly string[]) =>
    createRedactor({ patterns: Object.fromEntries(kinds.map((kind) => [kind, `${kind}_[0-9]{4}`])) });

  /** The texts that are stored after the event was appended by stores with these redactors, one after the other. */
  async function appended(
    redactors: readonly (Redactor | null)[],
    event = known,
    next = known,
  ): Promise<unknown[]> {
    const provider = createMemoryStore();
    let dispatchId = '';
    for (const [index, redact] of redactors.entries()) {
      const store = openDispatchStore(provider, redact === null ? {} : { redact });
      const dispatch =
        index === 0
          ? await begin(store)
          : await store.openDispatch({ taskDir: task, dispatchId }, { write: true });
      dispatchId = dispatch.dispatchId;
      await dispatch.append(index === 0 ? [event] : [{ ...say('before'), id: `b${index}` }, next]);
      await dispatch.release();
    }
    const events = await provider.getDispatchEvents(task, dispatchId);
    return events.map(({ data }) => data.text);
  }

  it('is stored already, if it differs only in what is redacted', async () => {
    const one = '[REDACTED:acme] and other_5678 are here';
    expect(await appended([patterns('acme'), patterns('acme', 'other')])).toEqual([one, 'before']);
    expect(await appended([patterns('acme'), patterns('other')])).toEqual([one, 'before']);
    expect(await appended([null, patterns('acme')])).toEqual([known.data.text, 'before']);
  });

  it('is a conflict, if it differs in anything else, or if nothing is redacted any more', async () => {
    const conflict = expect.objectContaining({ code: 'STORE_EVENT_CONFLICT' });
    const changed = { ...known, data: { text: known.data.text as string, more: 1 } } as NewEvent;
    await expect(appended([patterns('acme'), patterns('acme', 'other')], known, changed)).rejects.toEqual(
      conflict,
    );
    const otherAgent = { ...known, agentId: 'a' };
    await expect(appended([patterns('acme'), patterns('other')], known, otherAgent)).rejects.toEqual(
      conflict,
    );
    const plain = { ...known, data: { text: 'nothing is secret' } };
    await expect(appended([patterns('acme'), patterns('other')], known, plain)).rejects.toEqual(conflict);
    await expect(appended([patterns('acme'), null])).rejects.toEqual(conflict);
  });
});

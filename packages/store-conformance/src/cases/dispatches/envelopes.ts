import type { EnvelopeUpdates } from '@hansard/provider';
import { sameContent } from '../../checks/expectations.ts';
import { beginDispatch, dispatchId, holdsEvents, prepared, taskDir } from '../../checks/prepared-store.ts';
import { sampleEnvelope, sampleEvent } from '../../checks/sample-data.ts';
import { caseFamily } from '../../run/conformance-case.ts';

/** A value for each field that an update can change. */
export const everything: Required<EnvelopeUpdates> = {
  role: 'reviewer',
  title: 'Route models, reviewed',
  model: 'model-b',
  cwd: '/elsewhere',
  startedAt: '2026-03-01T09:00:00.001Z',
  completedAt: '2026-03-01T10:00:00.000Z',
  status: 'completed',
  ended: { because: 'quiet', since: '2026-03-01T10:00:00.000Z' },
  cost: 0.125,
  usage: { inputTokens: 10, outputTokens: 0, cacheReadTokens: 3, turns: 2, durationMs: 1.5 },
  models: [
    { model: 'model-a', calls: 2, inputTokens: 10, outputTokens: 0, estimatedUsd: 0.25, pricedAs: 'a' },
  ],
  periods: {
    start: ['2026-03-01T09:45:00.000Z', '2026-03-01T09:45:00.000Z'],
    model: [null, 'model-a'],
    toolCalls: [1, null],
    costUsd: [null, 0.5],
    open: [{ toolCallId: 't', start: '2026-03-01T09:45:00.000Z', model: null, messageId: 'm' }],
  },
  prices: { name: 'a table', version: '1.2', date: '2026-03-01' },
  openCalls: [
    {
      id: 'msg_9:inference',
      messageId: 'msg_9',
      timestamp: '2026-03-01T09:59:00.000Z',
      usage: { model: 'model-a', calls: 1, inputTokens: 3, outputTokens: 1 },
      prices: null,
    },
  ],
  folded: {
    through: 9,
    eventId: 'event-9',
    open: [{ messageId: 'msg_9' }, { agentId: 'agent_002', messageId: 'msg_8' }],
    counted: { usage: ['msg_9'] },
  },
  source: { format: 'a-log', files: [{ name: 'a.jsonl', bytes: 3, modifiedAt: 1.5 }] },
  structuredResult: { verdict: 'good', scores: [1, 2] },
  parentDispatchId: '01JQ00000000000000000000PM',
  forkedFrom: { from: { product: 'hansard', sessionId: 's-1', dispatchId: 's-1' }, kind: 'fork' },
  branched: true,
  pending: [{ callId: 'e1', toolCallId: 'c1', tool: 'Bash', kind: 'approval', agentId: 'agent_001' }],
  botId: 'ada',
  fidelity: 'full',
};

export const envelopeCases = caseFamily('envelopes', [
  {
    name: 'listed-by-start',
    rule: null,
    title: 'envelopes are listed by start, then by id, in whatever order they were created',
    run: async ({ store }) => {
      const early = '2026-03-01T08:59:59.999Z';
      const envelopes = [
        sampleEnvelope('Z', { startedAt: early }),
        sampleEnvelope('01'),
        sampleEnvelope('B'),
        sampleEnvelope('_'),
        sampleEnvelope('a'),
      ];
      for (const index of [2, 4, 0, 3, 1]) {
        const envelope = envelopes[index];
        if (envelope !== undefined) await store.createDispatch(taskDir, envelope);
      }
      sameContent(await store.getDispatchEnvelopes(taskDir), envelopes, 'getDispatchEnvelopes');
    },
  },
  {
    name: 'update-each-field',
    rule: 1,
    title: 'an update changes the fields that it names and no others',
    run: async ({ store }) => {
      await beginDispatch(store);
      let expected = prepared.envelope;
      for (const [field, value] of Object.entries(everything)) {
        const updates = { [field]: value } as EnvelopeUpdates;
        await store.updateDispatch(taskDir, dispatchId, updates);
        expected = { ...expected, ...updates };
        sameContent(
          await store.getDispatchEnvelope(taskDir, dispatchId),
          expected,
          `the envelope after ${field}`,
        );
      }
      sameContent(await store.getDispatchEnvelopes(taskDir), [expected], 'getDispatchEnvelopes');
    },
  },
  {
    name: 'update-to-null',
    rule: 1,
    title: 'null is a value: an update writes it',
    run: async ({ store }) => {
      await beginDispatch(store);
      await store.updateDispatch(taskDir, dispatchId, everything);
      const nulls: EnvelopeUpdates = {
        title: null,
        model: null,
        cwd: null,
        completedAt: null,
        ended: null,
        cost: null,
        usage: null,
        models: null,
        periods: null,
        prices: null,
        openCalls: null,
        folded: null,
        source: null,
        structuredResult: null,
        parentDispatchId: null,
        botId: null,
      };
      await store.updateDispatch(taskDir, dispatchId, nulls);
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        { ...prepared.envelope, ...everything, ...nulls },
        'getDispatchEnvelope',
      );
    },
  },
  {
    name: 'update-replaces-values',
    rule: 1,
    title: 'a field that is an object is replaced, not merged',
    run: async ({ store }) => {
      await beginDispatch(store);
      await store.updateDispatch(taskDir, dispatchId, everything);
      const usage = { inputTokens: 1, outputTokens: 2 };
      await store.updateDispatch(taskDir, dispatchId, { usage, structuredResult: { scores: [3] } });
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        { ...prepared.envelope, ...everything, usage, structuredResult: { scores: [3] } },
        'getDispatchEnvelope',
      );
    },
  },
  {
    name: 'update-gives-the-envelope',
    rule: null,
    title: 'an update returns the changed envelope, with the fields that it did not name',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      let expected = prepared.envelope;
      for (const updates of [{ cost: 1 }, {}, everything, { usage: null }, { status: 'running' }] as const) {
        expected = { ...expected, ...updates };
        sameContent(
          await store.updateDispatch(taskDir, dispatchId, updates),
          expected,
          `updateDispatch with ${Object.keys(updates).join(', ') || 'no field'}`,
        );
      }
    },
  },
  {
    name: 'title',
    rule: null,
    title: 'the title of a dispatch is kept, in any language',
    run: async ({ store }) => {
      const title = 'Größe “ändern” 会 🎈\nline two';
      await store.createDispatch(taskDir, sampleEnvelope(dispatchId, { title }));
      sameContent((await store.getDispatchEnvelope(taskDir, dispatchId))?.title, title, 'the title');
      await store.updateDispatch(taskDir, dispatchId, { cost: 1 });
      sameContent((await store.getDispatchEnvelopes(taskDir))[0]?.title, title, 'the title after an update');
    },
  },
  {
    name: 'update-nothing',
    rule: 1,
    title: 'an update without fields changes nothing',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      await store.updateDispatch(taskDir, dispatchId, {});
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        prepared.envelope,
        'getDispatchEnvelope',
      );
      await holdsEvents(store, prepared.events);
    },
  },
  {
    name: 'update-of-any-size',
    rule: 4,
    title: 'an envelope that grows to a megabyte and shrinks again does not change the events',
    run: async ({ store }) => {
      await beginDispatch(store, prepared.events);
      const expected = [...prepared.events];
      for (const size of [100, 5_000, 1_000_000, 0, 2_000]) {
        const structuredResult = 'ü'.repeat(size);
        await store.updateDispatch(taskDir, dispatchId, { structuredResult });
        const event = sampleEvent(`after-${size}`);
        await store.appendEvent(taskDir, dispatchId, event);
        expected.push(event);
        sameContent(
          await store.getDispatchEnvelope(taskDir, dispatchId),
          { ...prepared.envelope, structuredResult },
          `the envelope with a result of ${size} characters`,
        );
        await holdsEvents(store, expected);
      }
      sameContent((await store.getDispatchEnvelopes(taskDir)).length, 1, 'the number of envelopes');
    },
  },
  {
    name: 'update-moves-in-the-list',
    rule: null,
    title: 'a changed start changes the place in the list',
    run: async ({ store }) => {
      await store.createDispatch(taskDir, sampleEnvelope('A'));
      await store.createDispatch(taskDir, sampleEnvelope('B'));
      await store.updateDispatch(taskDir, 'A', { startedAt: '2026-03-02T00:00:00.000Z' });
      const ids = (await store.getDispatchEnvelopes(taskDir)).map((envelope) => envelope.dispatchId);
      sameContent(ids, ['B', 'A'], 'the order of the envelopes');
    },
  },
  {
    name: 'keeps-a-copy',
    rule: 4,
    title: 'changing an envelope or an update after the call does not change what is stored',
    run: async ({ store }) => {
      const envelope = sampleEnvelope(dispatchId, { usage: { inputTokens: 1, outputTokens: 1 } });
      const expected = structuredClone(envelope);
      await store.createDispatch(taskDir, envelope);
      Object.assign(envelope.usage ?? {}, { inputTokens: 99 });
      Object.assign(envelope, { role: 'changed' });
      sameContent(await store.getDispatchEnvelope(taskDir, dispatchId), expected, 'getDispatchEnvelope');
      const structuredResult = { list: [1] };
      await store.updateDispatch(taskDir, dispatchId, { structuredResult });
      structuredResult.list.push(2);
      sameContent(
        await store.getDispatchEnvelope(taskDir, dispatchId),
        { ...expected, structuredResult: { list: [1] } },
        'getDispatchEnvelope',
      );
    },
  },
]);

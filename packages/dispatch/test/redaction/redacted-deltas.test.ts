import { openDispatchStore } from '@hansard/dispatch';
import { type Delta, newEvent } from '@hansard/events';
import { createRedactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { foundIn, randomFrom, secretCanaries } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { RedactedDeltas } from '../../src/redaction/redacted-deltas.ts';
import { begin, say } from '../support/route-models.ts';

const seed = 77;
const redactor = createRedactor();
const random = randomFrom(seed);

/** The text in pieces of one to nine characters. */
function pieces(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + Math.floor(random() * 9);
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

function published(texts: readonly string[], redact = redactor): string {
  const deltas = new RedactedDeltas(redact);
  const out = texts.flatMap((text) => deltas.take({ type: 'delta:text', text }));
  return [...out, ...deltas.finish(undefined)].map(({ text }) => text).join('');
}

describe('deltas of a store that redacts', () => {
  it('have no secret that is split over them, and the text around it', () => {
    const { all } = secretCanaries(seed);
    for (const { text, kind, needle } of all()) {
      const shown = published(pieces(text));
      expect(shown, kind).toContain(`[REDACTED:${kind}]`);
      // No part of it either: pieces of a secret are as secret.
      expect(shown, kind).not.toContain(needle.slice(0, 10));
      expect(shown, kind).not.toContain(needle.slice(-10));
      // The end of a private key without its last line is not known: what follows is replaced, too.
      const words = kind === 'private-key' ? [] : [text.split(' ').at(-1)];
      for (const word of [text.split(' ')[0], ...words]) expect(shown, kind).toContain(word);
    }
  });

  it('would be found to leak if each were redacted by itself', () => {
    const { all } = secretCanaries(seed);
    const leaked = all().filter(({ text, needle }) =>
      pieces(text)
        .map((piece) => redactor.text(piece).text)
        .join('')
        .includes(needle),
    );
    expect(leaked).toHaveLength(all().length);
  });

  it('have the whole text if it has no secret, however long it is', () => {
    for (let round = 0; round < 20; round += 1) {
      const text = Array.from(
        { length: 20_000 * random() },
        () => 'ab "<\n\'c>`'[Math.floor(random() * 11)],
      ).join('');
      expect(published(pieces(text))).toBe(text);
    }
    const unbroken = 'x'.repeat(30_000);
    expect(published(pieces(unbroken))).toBe(unbroken);
  });

  it('withhold only a beginning that has not ended', () => {
    const deltas = new RedactedDeltas(redactor);
    const take = (text: string) =>
      deltas.take({ type: 'delta:text', text, messageId: 'm' }).map((delta) => delta.text);
    expect(take('I begin wi')).toEqual(['I begin ']);
    expect(take('th the routes. ')).toEqual(['with the routes. ']);
    expect(take('Done')).toEqual([]);
    expect(deltas.finish(undefined)).toEqual([{ type: 'delta:text', text: 'Done', messageId: 'm' }]);
    expect(deltas.finish(undefined)).toEqual([]);
  });

  it('are complete before the event that holds their text, for each agent and block by itself', async () => {
    const store = openDispatchStore(createMemoryStore(), { redact: redactor });
    const dispatch = await begin(store);
    const items: string[] = [];
    const reading = (async () => {
      for await (const item of dispatch.stream().withDeltas()) {
        if (item.kind === 'delta') items.push(`${item.delta.agentId} ${item.delta.type}: ${item.delta.text}`);
        else if (item.kind === 'event') items.push(`${item.event.agentId ?? 'harness'} ${item.event.type}`);
      }
    })();
    const publish = (agentId: string, text: string, type: Delta['type'] = 'delta:text') =>
      dispatch.publish({ type, agentId, messageId: 'm', text });
    publish('a', 'half', 'delta:thinking');
    publish('b', 'other');
    publish('a', 'a wo');
    await dispatch.append({ ...say('a wo'), agentId: 'a' });
    await dispatch.append([{ ...newEvent('agent:text', { text: 'other' }), agentId: 'b' }]);
    await dispatch.end({ status: 'completed' });
    await reading;
    expect(items.filter((item) => item.startsWith('a'))).toEqual([
      'a delta:thinking: half',
      'a delta:text: a ',
      'a delta:text: wo',
      'a agent:text',
    ]);
    expect(items.filter((item) => item.startsWith('b'))).toEqual(['b delta:text: other', 'b agent:text']);
  });

  it('are published as before where nothing is redacted', async () => {
    const { any } = secretCanaries(seed);
    const canary = any();
    const dispatch = await begin(openDispatchStore(createMemoryStore()));
    const seen: string[] = [];
    const reading = (async () => {
      for await (const item of dispatch.stream().withDeltas())
        if (item.kind === 'delta') seen.push(item.delta.text);
    })();
    dispatch.publish({ type: 'delta:text', text: canary.text });
    await dispatch.end({ status: 'completed' });
    await reading;
    expect(foundIn(seen.join(''), [canary])).toEqual([canary]);
  });
});

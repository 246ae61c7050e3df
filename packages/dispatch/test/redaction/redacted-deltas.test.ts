import { openDispatchStore } from '@hansard/dispatch';
import { type Delta, type NewEvent, newEvent } from '@hansard/events';
import { createRedactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import {
  foundIn,
  type IssuedSecret,
  issue,
  issuedSecrets,
  randomFrom,
  secretCanaries,
} from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { RedactedDeltas } from '../../src/redaction/redacted-appends.ts';
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
  return [...out, ...deltas.finish(newEvent('agent:text', { text: texts.join('') }))]
    .map(({ text }) => text)
    .join('');
}

const phrase = 'correct horse battery staple';
const withPhrase = createRedactor({ environment: ['PHRASE'], env: { PHRASE: phrase } });
const withCards = createRedactor({ patterns: { card: '[0-9]{4} [0-9]{4} [0-9]{4} [0-9]{4}' } });
const token = issue(issuedOf('ghp_'), random).secret;

function issuedOf(prefix: string): IssuedSecret {
  const found = issuedSecrets.find(({ parts }) => parts[0] === prefix);
  if (found === undefined) throw new Error(`no secret begins with ${prefix}`);
  return found;
}

function letters(length: number): string {
  return Array.from({ length }, () => 'abcdefghijABCDEFGHIJ0123456789'[Math.floor(random() * 30)]).join('');
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

  it('withhold the last eight words, and have them before the event of their text', () => {
    const deltas = new RedactedDeltas(redactor);
    const take = (text: string) =>
      deltas.take({ type: 'delta:text', text, messageId: 'm' }).map((delta) => delta.text);
    expect(take('I begin wi')).toEqual([]);
    expect(take('th the routes. Then the tests follow, as al')).toEqual(['I begin ']);
    expect(take('ways. ')).toEqual(['with ']);
    const event = newEvent('agent:text', {
      text: 'I begin with the routes. Then the tests follow, as always.',
    });
    expect(deltas.finish({ ...event, messageId: 'm' })).toEqual([
      { type: 'delta:text', text: 'the routes. Then the tests follow, as always. ', messageId: 'm' },
    ]);
    expect(deltas.finish({ ...event, messageId: 'm' })).toEqual([]);
  });

  it('are published before the end of a text that has no white space, as in Chinese', () => {
    const deltas = new RedactedDeltas(redactor);
    const take = (text: string) => deltas.take({ type: 'delta:text', text }).map((delta) => delta.text);
    expect(take('我先看路由，我先看路由')).toEqual(['我先看']);
    expect(take(`"密码\n是": ://${'很'.repeat(50)}`)).toEqual(['路由']);
  });

  it('have no cookie of a long line', () => {
    const cookies = Array.from({ length: 30 }, (_, at) => `name${at}=${letters(20)}`);
    const shown = published(pieces(`Cookie: ${cookies.join('; ')}\nand so on`));
    for (const cookie of cookies) expect(shown).not.toContain(cookie.slice(-18));
    expect(shown).toContain('and so on');
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
    await dispatch.append({ ...newEvent('agent:thinking', { text: 'half' }), agentId: 'a' });
    await dispatch.append({ ...say('a wo'), agentId: 'a' });
    await dispatch.append([{ ...newEvent('agent:text', { text: 'other' }), agentId: 'b' }]);
    await dispatch.end({ status: 'completed' });
    await reading;
    const ofText = items.filter((item) => item !== 'a agent:thinking');
    expect(ofText.filter((item) => item.startsWith('a'))).toEqual([
      'a delta:thinking: half',
      'a delta:text: a wo',
      'a agent:text',
    ]);
    expect(items.filter((item) => item.startsWith('b'))).toEqual(['b delta:text: other', 'b agent:text']);
  });

  it('have no token that an event of the same agent divides', async () => {
    const seen: string[] = [];
    const store = openDispatchStore(createMemoryStore(), { redact: redactor });
    const dispatch = await begin(store);
    const reading = (async () => {
      for await (const item of dispatch.stream().withDeltas())
        if (item.kind === 'delta') seen.push(item.delta.text);
    })();
    const publish = (text: string) => dispatch.publish({ type: 'delta:text', agentId: 'a', text });
    const append = (event: NewEvent) => dispatch.append({ ...event, agentId: 'a' });
    publish(`x ${token.slice(0, 20)}`);
    await append(newEvent('user:message', { text: 'hi', source: { kind: 'user' } }));
    await append(newEvent('agent:thinking', { text: 'hm' }));
    publish(`${token.slice(20)} y`);
    await append(newEvent('agent:text', { text: `x ${token} y` }));
    await dispatch.end({ status: 'completed' });
    await reading;
    expect(seen.join('')).toBe('x [REDACTED:github-token] y');
  });

  it('have no token that another text of the same kind divides', () => {
    const deltas = new RedactedDeltas(redactor);
    const text = (one: string) => newEvent('agent:text', { text: one });
    const parts = [`x ${token.slice(0, 20)}`, `${token.slice(20)} y one two three four`];
    const take = (part: string) => deltas.take({ type: 'delta:text', text: part });
    expect(take(parts[0] as string)).toEqual([]);
    // Nothing shows which text the next delta continues: it is left out, until the next event.
    expect(deltas.finish(text('another'))).toEqual([]);
    expect(take(parts[1] as string)).toEqual([]);
    expect(deltas.finish(text(parts.join('')))).toEqual([]);
    expect(take('Later, the')).toEqual([]);
    expect(deltas.finish(text('Later, the'))).toEqual([{ type: 'delta:text', text: 'Later, the' }]);
  });

  it('have no token that the input of another tool divides', () => {
    const deltas = new RedactedDeltas(redactor);
    const take = (toolCallId: string, text: string) =>
      deltas.take({ type: 'delta:tool_input', agentId: 'a', toolCallId, text });
    const call = (toolCallId: string) =>
      deltas.finish({
        ...newEvent('agent:tool_call', { toolCallId, tool: 'Bash', input: {}, metadata: {} }),
        agentId: 'a',
      });
    const published = [
      ...take('c1', `{"a":"x ${token.slice(0, 20)}`),
      ...take('c2', '{'),
      ...take('c1', `${token.slice(20)} y"}`),
      ...take('c2', '}'),
    ];
    expect(published).toEqual([]);
    expect(call('c2')).toEqual([{ type: 'delta:tool_input', agentId: 'a', toolCallId: 'c2', text: '{}' }]);
    expect(call('c1').map(({ text }) => text)).toEqual(['{"a":"x [REDACTED:github-token] y"}']);
    take('c3', `{"a":"x ${token.slice(0, 20)}`);
    expect(call('c3')).toEqual([]);
    expect(take('c3', `${token.slice(20)} one two three four five"}`)).toEqual([]);
  });

  it('have no line of a long private key after a long text', () => {
    const lines = Array.from({ length: 110 }, () => letters(64));
    const block = 'PGP PRIVATE KEY BLOCK-----';
    const key = [
      `-----BEGIN ${block}`,
      `Comment: made here. -----END ${block}`,
      '',
      ...lines,
      `-----END ${block}`,
    ].join('\n');
    const text = `${'word '.repeat(700)}${key}\n${'and so on '.repeat(20)}`;
    expect(published(pieces(text))).toBe(redactor.text(text).text);
    // Without its end, too.
    const open = text.slice(0, text.indexOf(lines[100] as string));
    const deltas = new RedactedDeltas(redactor);
    const shown = pieces(open).flatMap((piece) => deltas.take({ type: 'delta:text', text: piece }));
    expect(shown.map((delta) => delta.text).join('')).toBe('word '.repeat(700));
  });

  it('have no part of a long token', () => {
    const jwt = `eyJhbGciOiJSUzI1NiJ9.eyJ${letters(4_800)}.${letters(340)}`;
    expect(published(pieces(`a ${jwt} done`))).toBe('a [REDACTED:jwt] done');
  });

  it('have no part of a value or a pattern of your own that has spaces', () => {
    const words = (text: string) => text.split(/(?<= )/);
    const said = `say ${phrase} now, and then say that it is so, and not as it was`;
    const deltas = new RedactedDeltas(withPhrase);
    const shown = words(said).flatMap((text) => deltas.take({ type: 'delta:text', text }));
    expect(shown.map(({ text }) => text).join('')).toBe('say [REDACTED:env-PHRASE] now, and then ');
    expect(published(words(said), withPhrase)).toBe(withPhrase.text(said).text);
    expect(published(words('say 1234 5678 9012 3456 now'), withCards)).toBe('say [REDACTED:card] now');
  });

  it('are only the whole text where there are patterns of your own: a pattern can match many lines', () => {
    const deltas = new RedactedDeltas(withCards);
    const text = 'nothing that is a secret. '.repeat(300);
    expect(pieces(text).flatMap((piece) => deltas.take({ type: 'delta:text', text: piece }))).toEqual([]);
    expect(deltas.finish(newEvent('agent:text', { text }))).toEqual([{ type: 'delta:text', text }]);
  });

  it('end where more than 4 million characters must be withheld, until the event', () => {
    const deltas = new RedactedDeltas(redactor);
    const take = (text: string, agentId = 'a') =>
      deltas.take({ type: 'delta:text', agentId, text }).map((delta) => delta.text);
    take(`x ${token.slice(0, 9)}`, 'b');
    const first = 'one two three four five six seven eight nine ';
    expect(take(first)).toEqual(['one ']);
    for (let at = 0; at < 5; at += 1) expect(take('x'.repeat(1_000_000))).toEqual([]);
    expect(take(' and so on and so on and so on')).toEqual([]);
    const end = (text: string, agentId = 'a') =>
      deltas.finish({ ...newEvent('agent:text', { text }), agentId }).map((delta) => delta.text);
    expect(end('any')).toEqual([]);
    // The others continue, and the next text of the same agent.
    expect([...take(token.slice(9), 'b'), ...end(`x ${token}`, 'b')]).toEqual(['x [REDACTED:github-token]']);
    expect([...take(first), ...end(first)].join('')).toBe(first);
  });

  it.each([
    ['prose', () => 'a few words, as they come'.slice(0, 20)],
    ['one line of letters', () => letters(20)],
    [
      'a private key without an end',
      (at: number) => (at === 0 ? '-----BEGIN PRIVATE KEY-----\n' : letters(20)),
    ],
    ['values of variables', () => `${phrase} `],
  ])('take linear time: %s', (_, textOf) => {
    // Counts the characters that are searched, so that it does not depend on the machine.
    let searched = 0;
    const counting = {
      reach: withPhrase.reach,
      text: (text: string) => {
        searched += text.length;
        return withPhrase.text(text);
      },
    };
    const deltas = new RedactedDeltas(counting);
    let length = 0;
    for (let at = 0; at < 30_000; at += 1) {
      const text = textOf(at);
      length += text.length;
      deltas.take({ type: 'delta:text', text });
    }
    expect(searched).toBeLessThan(40 * length);
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

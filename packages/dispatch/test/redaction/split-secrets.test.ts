import { type Dispatch, openDispatchStore } from '@hansard/dispatch';
import { type Delta, type NewEvent, newEvent } from '@hansard/events';
import { createRedactor, type Redactor } from '@hansard/redaction';
import { createMemoryStore } from '@hansard/store-memory';
import { issue, issuedSecrets, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { task } from '../support/route-models.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 30));
const rounds = 40;

const phrase = 'correct horse battery "staple"\nof 12 words';
const env = { PHRASE: phrase, SHORT: 'pass word' };
const environment = Object.keys(env);
const patterns = {
  card: '[0-9]{4} [0-9]{4} [0-9]{4} [0-9]{4}',
  section: 'SECTION\\s+(?P<secret>[a-z ]{9,40})\\.',
};

const redactors: readonly (readonly [name: string, redactor: Redactor])[] = [
  ['formats', createRedactor()],
  ['formats and values of variables', createRedactor({ environment, env })],
  ['formats, values and patterns', createRedactor({ environment, env, patterns })],
];

/** A text of a model, as it is streamed. */
interface Spoken {
  readonly block: Omit<Delta, 'text'>;
  readonly text: string;
  readonly secrets: readonly string[];
  /** The deltas that are not published yet. */
  readonly rest: string[];
}

interface Heard {
  readonly streamed: ReadonlyMap<string, string>;
  readonly recorded: ReadonlyMap<string, string>;
}

/** Random texts. They share no code with what finds secrets or divides texts. */
function writer(random: () => number) {
  const below = (limit: number) => Math.floor(random() * limit);
  const one = <T>(all: readonly T[]): T => all[below(all.length)] as T;
  const word = () =>
    one(['the', 'routes', 'a', 'password', '"password":', 'Bearer', 'key', 'über', '路由', 'x=', '://a:']);
  const space = () => one([' ', ' ', ' ', '\n', '\n\n', '  ', '\t']);
  const digits = () => String(1_000 + below(9_000));

  const secretOf = (): { readonly text: string; readonly secret: string } => {
    const own = [
      phrase,
      JSON.stringify(phrase).slice(1, -1),
      encodeURIComponent(phrase),
      env.SHORT,
      [digits(), digits(), digits(), digits()].join(' '),
    ];
    if (random() < 0.25) return random() < 0.8 ? both(one(own)) : both('SECTION\n the words of it.');
    return issue(one(issuedSecrets), random, random() < 0.8 ? 'least' : 'any');
  };
  const both = (text: string) => ({ text, secret: text });

  const write = () => {
    let text = '';
    const secrets: string[] = [];
    for (let part = below(12); part >= 0; part -= 1) {
      const kind = random();
      if (kind < 0.45) {
        for (let count = 1 + below(20); count > 0; count -= 1) text += word() + space();
      } else if (kind < 0.9) {
        const found = secretOf();
        secrets.push(found.secret);
        // Some are cut, and some follow on another, or on a word.
        text += random() < 0.15 ? found.text.slice(0, below(found.text.length)) : found.text;
        if (random() < 0.8) text += space();
      } else if (kind < 0.95) text += '-----BEGIN CERTIFICATE-----\n';
      else
        text += `-----BEGIN RSA PRIVATE KEY-----${one([' begins a key. ', '\nProc-Type: 4,ENCRYPTED\n\n'])}`;
    }
    return { text, secrets };
  };

  const pieces = (text: string): string[] => {
    const longest = one([3, 12, 60, 2_000]);
    const found: string[] = [];
    for (let at = 0; at < text.length; ) {
      const length = 1 + below(longest);
      found.push(text.slice(at, at + length));
      at += length;
    }
    return found;
  };
  return { below, one, write, pieces };
}

const keyOf = ({ agentId, type, messageId, toolCallId }: Omit<Delta, 'text'>) =>
  [agentId, type, messageId, toolCallId].join();

/** The event that holds a text. */
function eventOf({ block, text }: Spoken): NewEvent {
  const { agentId, messageId, toolCallId = '' } = block;
  const event =
    block.type === 'delta:tool_input'
      ? newEvent('agent:tool_call', { toolCallId, tool: 'Bash', input: { text }, metadata: {} })
      : newEvent(block.type === 'delta:text' ? 'agent:text' : 'agent:thinking', { text });
  return { ...event, ...(agentId && { agentId }), ...(messageId && { messageId }) } as NewEvent;
}

function beginHeard(redactor: Redactor, onDelta: (delta: Delta) => void): Promise<Dispatch> {
  const ignore = () => {};
  const communication = {
    dispatchStarted: ignore,
    eventRecorded: ignore,
    dispatchEnded: ignore,
    deltaReceived: ({ delta }: { delta: Delta }) => onDelta(delta),
  };
  const store = openDispatchStore(createMemoryStore(), { redact: redactor });
  const dispatch = { role: 'worker', fidelity: 'full' } as const;
  return store.beginDispatch(task, dispatch, { communication: communication as never });
}

/** Streams texts of several agents, messages and calls at the same time, with events between them, and records each text. */
async function stream(redactor: Redactor, random: () => number): Promise<Heard & { spoken: Spoken[] }> {
  const { below, one, write, pieces } = writer(random);
  const streamed = new Map<string, string>();
  const recorded = new Map<string, string>();
  const dispatch = await beginHeard(redactor, (delta) => {
    const key = keyOf(delta);
    streamed.set(key, (streamed.get(key) ?? '') + delta.text);
  });
  const spoken: Spoken[] = [];
  for (const agentId of ['a', 'b']) {
    for (const messageId of ['m1', 'm2'])
      for (const type of ['delta:text', 'delta:thinking'] as const)
        spoken.push(speak({ type, agentId, messageId }));
    for (const toolCallId of ['c1', 'c2'])
      spoken.push(speak({ type: 'delta:tool_input', agentId, toolCallId: `${agentId}${toolCallId}` }));
  }
  // An agent without ids.
  spoken.push(speak({ type: 'delta:text' }), speak({ type: 'delta:thinking' }));

  function speak(block: Omit<Delta, 'text'>): Spoken {
    const { text, secrets } = write();
    const raw = block.type === 'delta:tool_input' ? JSON.stringify({ text }) : text;
    return { block, text, secrets, rest: pieces(raw) };
  }

  const open = [...spoken];
  while (open.length > 0) {
    const index = below(open.length);
    const current = open[index] as Spoken;
    for (let count = 1 + below(4); count > 0 && current.rest.length > 0; count -= 1)
      dispatch.publish({ ...current.block, text: current.rest.shift() as string });
    if (current.rest.length === 0) {
      const { data } = await dispatch.append(eventOf(current));
      recorded.set(keyOf(current.block), String(data.text ?? (data.input as { text: string }).text));
      open.splice(index, 1);
    } else if (random() < 0.2) {
      const { agentId } = current.block;
      const between = one([
        newEvent('user:message', { text: 'hi', source: { kind: 'user' } }),
        newEvent('agent:tool_call', {
          toolCallId: 'other',
          tool: 'Bash',
          input: { text: 'ls' },
          metadata: {},
        }),
        { ...newEvent('agent:text', { text: 'other' }), messageId: 'other' },
        newEvent('agent:terminated', { reason: 'other' }),
      ]);
      if (agentId !== undefined) await dispatch.append({ ...between, agentId } as NewEvent);
    }
  }
  await dispatch.end({ status: 'completed' });
  return { streamed, recorded, spoken };
}

/** Runs of eight characters of a secret that a text has, and the redacted text does not. */
function leaks(secret: string, shown: string, redacted: string): string[] {
  const found: string[] = [];
  for (let at = 0; at + 8 <= secret.length; at += 1) {
    const run = secret.slice(at, at + 8);
    if (shown.includes(run) && !redacted.includes(run)) found.push(run);
  }
  return found;
}

describe(`secrets that are split over deltas (HANSARD_SEED=${seed})`, () => {
  it.each(redactors)(
    'are not published, and no text is lost, with %s',
    { timeout: 60_000 },
    async (_, redactor) => {
      const random = randomFrom(seed);
      let replaced = 0;
      for (let round = 0; round < rounds; round += 1) {
        const { streamed, recorded, spoken } = await stream(redactor, random);
        for (const { block, text, secrets } of spoken) {
          const key = keyOf(block);
          const where = `HANSARD_SEED=${seed}, round ${round}, ${key}`;
          const isInput = block.type === 'delta:tool_input';
          const redacted = redactor.text(isInput ? JSON.stringify({ text }) : text).text;
          const shown = streamed.get(key) ?? '';
          for (const secret of secrets) {
            expect(leaks(secret, shown, redacted), where).toEqual([]);
            const inJson = JSON.stringify(secret).slice(1, -1);
            if (isInput) expect(leaks(inJson, shown, redacted), where).toEqual([]);
          }
          expect(shown, where).toBe(redacted);
          expect(recorded.get(key), where).toBe(redactor.text(text).text);
          if (redacted.includes('[REDACTED:')) replaced += 1;
        }
      }
      // The texts have secrets.
      expect(replaced).toBeGreaterThan(rounds * 5);
    },
  );

  it.each(redactors)(
    'are not published before the end is known, with %s',
    { timeout: 60_000 },
    async (_, redactor) => {
      const random = randomFrom(seed + 1);
      const { write, pieces } = writer(random);
      for (let round = 0; round < 10 * rounds; round += 1) {
        const { text } = write();
        let shown = '';
        const dispatch = await beginHeard(redactor, (delta) => {
          shown += delta.text;
        });
        for (const piece of pieces(text)) dispatch.publish({ type: 'delta:text', text: piece });
        await dispatch.end({ status: 'aborted' });
        // A beginning of the whole redacted text, whatever the text would have become.
        for (const end of ['', ' and so on.', `\n${'MIIEabcd0123'.repeat(9)}`, 'abcdefgh12345678'.repeat(3)])
          expect(
            redactor.text(text + end).text.startsWith(shown),
            `HANSARD_SEED=${seed}, round ${round}`,
          ).toBe(true);
      }
    },
  );
});

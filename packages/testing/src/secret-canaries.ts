import { type CapturedEvent, isEvent, type JsonValue } from '@hansard/events';
import { issue, issuedSecrets } from './issued-secrets.ts';
import { randomFrom, sampleEvents } from './made-events.ts';

/** A secret in a text, with random text around it. */
export interface SecretCanary {
  readonly kind: string;
  readonly text: string;
  /** A part of the secret that survives every encoding of texts: at least 16 letters and digits. */
  readonly needle: string;
}

export interface SecretCanaries {
  /** One canary of each way in which an issuer writes secrets. */
  readonly all: () => SecretCanary[];
  /** One canary of a random kind. */
  readonly any: () => SecretCanary;
  /**
   * An event with a canary in each of its texts and in a key of each of its objects, as far as it stays valid. Absent
   * `make`: of random kinds.
   */
  readonly plant: (
    event: CapturedEvent,
    make?: () => SecretCanary,
  ) => { event: CapturedEvent; canaries: SecretCanary[] };
}

/** Those with as many letters and digits in a row as a needle has: a UUID has fewer. */
const withNeedle = issuedSecrets.filter((one) => {
  const { secret } = issue(one, randomFrom(1), 'least');
  return secret.length < 3_000 && /[A-Za-z0-9]{16}/.test(secret);
});

/** Secrets as their issuers make them. They share no code with the formats that find them. */
export function secretCanaries(seed: number): SecretCanaries {
  const random = randomFrom(seed);
  const word = () =>
    Array.from({ length: 4 + Math.floor(random() * 4) }, () =>
      String.fromCharCode(97 + Math.floor(random() * 26)),
    ).join('');

  const canaryOf = (index: number): SecretCanary => {
    const issued = withNeedle[index];
    if (issued === undefined) throw new RangeError(`there is no way ${index} to issue a secret`);
    for (;;) {
      const { text, secret } = issue(issued, random, random() < 0.8 ? 'least' : 'any');
      const runs = secret.match(/[A-Za-z0-9]+/g) ?? [];
      const needle = runs.sort((a, b) => b.length - a.length)[0]?.slice(-40) ?? '';
      if (secret.length < 3_000 && needle.length >= 16)
        return { kind: issued.kind, text: `${word()} ${text} ${word()}`, needle };
    }
  };

  const any = () => canaryOf(Math.floor(random() * withNeedle.length));
  return {
    all: () => withNeedle.map((_, index) => canaryOf(index)),
    any,
    plant: (event, make = any) => {
      const canaries: SecretCanary[] = [];
      let planted = event;
      const tryPlant = (path: readonly string[], value: JsonValue): void => {
        if (typeof value === 'string') {
          const canary = make();
          const changed = withValue(planted, path, `${value} ${canary.text}`);
          if (!isEvent(changed)) return;
          planted = changed;
          canaries.push(canary);
        } else if (typeof value === 'object' && value !== null) {
          for (const [key, one] of Object.entries(value)) tryPlant([...path, key], one as JsonValue);
          if (Array.isArray(value)) return;
          const canary = make();
          const changed = withValue(planted, [...path, canary.text], 1);
          if (!isEvent(changed)) return;
          planted = changed;
          canaries.push(canary);
        }
      };
      tryPlant([], event.data);
      return { event: planted, canaries };
    },
  };
}

/** One event of each type, under ids of their own. */
export function sampleEventOfEachType(): CapturedEvent[] {
  return Object.values(sampleEvents).map((event, index) => ({ ...event, id: `S${index}` }));
}

/** The canaries whose secret is in a text. */
export function foundIn(text: string, canaries: readonly SecretCanary[]): SecretCanary[] {
  return canaries.filter(({ needle }) => text.includes(needle));
}

function withValue(event: CapturedEvent, path: readonly string[], value: JsonValue): CapturedEvent {
  const copy = structuredClone(event) as unknown as { data: Record<string, JsonValue> };
  let place = copy.data;
  for (const key of path.slice(0, -1)) place = place[key] as Record<string, JsonValue>;
  place[path.at(-1) ?? ''] = value;
  return copy as unknown as CapturedEvent;
}

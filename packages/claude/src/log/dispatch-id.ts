import { hash } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const timeLength = 10;
const restLength = 16;

/**
 * The id of an imported dispatch: a ULID derived from its start (milliseconds since 1970) and its name, so that a second
 * import finds the first one.
 */
export function dispatchIdOf(name: string, time: number): string {
  const digest = hash('sha256', name, 'hex').slice(0, 20);
  return (
    digits(BigInt(Math.max(0, Math.floor(time))), timeLength) + digits(BigInt(`0x${digest}`), restLength)
  );
}

function digits(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = `${alphabet[Number(rest & 31n)]}${text}`;
  return text;
}

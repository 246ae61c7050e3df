import { crc32 } from 'node:zlib';
import type { CapturedEvent, DispatchDamage, DispatchEnvelope } from '@hansard/provider';

/** The content of a dispatch as far as its bytes are whole. */
export interface ReadLog {
  /** Null if its line is damaged. */
  readonly envelope: DispatchEnvelope | null;
  readonly events: readonly CapturedEvent[];
  readonly damages: readonly DispatchDamage[];
}

/** A line for the number of events, one for the envelope and one for each event, each with a checksum that continues the last. */
export function encodeLog(envelope: DispatchEnvelope, events: readonly CapturedEvent[]): Buffer {
  let checksum = 0;
  const lines = [events.length, envelope, ...events].map((value) => {
    const text = JSON.stringify(value);
    checksum = crc32(text, checksum);
    return `${checksum.toString(16).padStart(8, '0')} ${text}\n`;
  });
  return Buffer.from(lines.join(''));
}

export function decodeLog(bytes: Uint8Array): ReadLog {
  const buffer = Buffer.from(bytes);
  const damages: DispatchDamage[] = [];
  const events: CapturedEvent[] = [];
  let envelope: DispatchEnvelope | null = null;
  let expected: number | null = null;
  let checksum = 0;
  let offset = 0;
  const damaged = (length: number, reason: string, lostEvents: number | null) =>
    damages.push({
      place: 'the log',
      offset,
      bytes: length,
      eventsBefore: events.length,
      lostEvents,
      reason,
    });
  for (let line = 0; offset < buffer.length; line += 1) {
    const newline = buffer.indexOf(10, offset);
    const end = newline < 0 ? buffer.length : newline;
    const stored = /^[0-9a-f]{8} $/.exec(buffer.toString('latin1', offset, offset + 9))?.[0];
    const body = buffer.subarray(offset + 9, end);
    const isWhole =
      stored !== undefined && newline >= 0 && crc32(body, checksum) === Number.parseInt(stored, 16);
    if (!isWhole) damaged(end + 1 - offset, 'The checksum differs.', line < 2 ? 0 : 1);
    else if (line === 0) expected = JSON.parse(body.toString());
    else if (line === 1) envelope = JSON.parse(body.toString());
    else events.push(JSON.parse(body.toString()));
    if (stored !== undefined) checksum = Number.parseInt(stored, 16);
    offset = end + 1;
  }
  if (damages.length === 0 && expected !== events.length)
    damaged(0, 'Events are missing at the end.', expected === null ? null : expected - events.length);
  return { envelope, events, damages };
}

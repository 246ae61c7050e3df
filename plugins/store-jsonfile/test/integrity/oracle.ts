import { crc32 } from 'node:zlib';

/**
 * Reads a file in the simplest way, with none of the code of the store: one JSON document, whose text is split at
 * line feeds. It accepts only a file that is right in every byte. @returns the events, or the reason why it is not right
 */
export function readByOracle(bytes: Buffer): { readonly events: unknown[] } | { readonly wrong: string } {
  try {
    return { events: check(bytes) };
  } catch (error) {
    return { wrong: String(error) };
  }
}

function check(bytes: Buffer): unknown[] {
  const document = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  const text = bytes.toString('latin1');
  const opening = text.indexOf('"events":[\n');
  const slot = opening / 2;
  const heads = [text.slice(0, slot), text.slice(slot, opening)].map((head) => head.replace(/ *,\n$/, ''));
  for (const head of heads) {
    const [, body = '', crc] = /^(?:"copy":)?\{(.*),"crc":"([0-9a-f]{8})"\}?$/.exec(head) ?? [];
    if (hex(crc32(Buffer.from(body, 'latin1'))) !== crc) throw new Error('the checksum of a head');
  }
  const start = opening + '"events":['.length;
  const end = text.search(/\n\] ?\}\n$/);
  const lines = end <= start ? [] : text.slice(start + 1, end).split('\n');
  // The name in the head.
  const seed = crc32(`${document.task}\n${document.id}`);
  const events: unknown[] = [];
  let at = start + 1;
  for (const [index, line] of lines.entries()) {
    const isLast = index === lines.length - 1;
    const [, event = '', crc = ''] = /^ ?(\{.*),"crc":"([0-9a-f]{8})"\}(,?)$/.exec(line) ?? [];
    if (line.endsWith(',') === isLast) throw new Error('a comma');
    if (isLast && line.startsWith(' ')) throw new Error('an unfinished batch');
    const digits = at + line.lastIndexOf(crc);
    // From the bracket to the digits, always from the beginning.
    if (hex(crc32(bytes.subarray(start, digits), seed)) !== crc) throw new Error('the checksum of an event');
    events.push(JSON.parse(`${Buffer.from(event, 'latin1').toString()}}`));
    at += line.length + 1;
  }
  const { acknowledged } = document;
  if (events.length < acknowledged.events) throw new Error('fewer events than acknowledged');
  return events;
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0');
}

import { isPlainObject, type JsonValue } from '../json/json.ts';
import { shortened } from '../shortened.ts';
import type { MediaPart } from '../types/content-part.ts';
import type { EventData } from '../types/event.ts';

const kinds: ReadonlySet<unknown> = new Set(['image', 'document', 'audio']);
const longestName = 80;
const shownDigits = 8;

/** A part, and whether a user had its bytes removed from the log. */
type LabelledPart = MediaPart & { readonly isRemoved?: boolean | undefined };

/** The place of an image, a document or a sound in a text: `[image/png 75 KB, sha256 1a2b3c4d…]`. */
export function contentLabel(part: LabelledPart): string {
  const { kind, mediaType, sha256, size, base64, name, url, isKept, isRemoved } = part;
  const bytes = size ?? (base64 === undefined ? undefined : bytesIn(base64));
  const facts = [
    name === undefined ? '' : inLine(name),
    [inLine(mediaType ?? kind), bytes === undefined ? '' : formatBytes(bytes)].filter(Boolean).join(' '),
    sha256 === undefined ? '' : `sha256 ${sha256.slice(0, shownDigits)}…`,
    url === undefined ? '' : inLine(url),
    isKept === false ? 'not kept' : '',
    isRemoved === true ? 'removed' : '',
  ];
  return `[${facts.filter((fact) => fact !== '').join(', ')}]`;
}

function inLine(text: string): string {
  return shortened(text.replace(/\s+/g, ' ').trim(), longestName);
}

/** A number of bytes as `940 bytes`, `75 KB` or `1.2 MB`, in powers of 1,000. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const kilobytes = Math.round(bytes / 1_000);
  if (kilobytes < 1_000) return `${kilobytes} KB`;
  const megabytes = bytes / 1_000_000;
  return megabytes < 999.95 ? `${megabytes.toFixed(1)} MB` : `${(megabytes / 1_000).toFixed(1)} GB`;
}

/** The number of bytes that a Base64 text encodes. */
export function bytesIn(base64: string): number {
  let { length } = base64;
  // A regular expression such as /=+$/ takes quadratic time on a text of many `=`.
  while (base64[length - 1] === '=') length -= 1;
  return Math.floor((length * 3) / 4);
}

/** Whether a `content:stored` event had bytes, and a user had them removed. Without `base64` they were left out. */
export function isRemovedContent({ base64, size }: EventData<'content:stored'>): boolean {
  return base64 === '' && size > 0;
}

/** Whether a value in the output of a tool is a part that was separated. */
export function isMediaPart(value: unknown): value is MediaPart {
  if (!isPlainObject(value) || !kinds.has(value.kind)) return false;
  return (
    typeof value.sha256 === 'string' || typeof value.url === 'string' || typeof value.base64 === 'string'
  );
}

/** The parts in a value, at any depth and in their order: in the data of an event, or in the output of a tool. */
export function mediaPartsIn(value: JsonValue | undefined): MediaPart[] {
  if (typeof value !== 'object' || value === null) return [];
  if (isMediaPart(value)) return [value];
  return Object.values(value).flatMap(mediaPartsIn);
}

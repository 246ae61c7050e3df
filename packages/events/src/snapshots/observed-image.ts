import type { MediaPart } from '../types/content-part.ts';

/** An image that an agent observed. `snapshot` keeps it as an image part, and `reviveSnapshot` returns it. */
export interface ObservedImage {
  /** For example `image/png`. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** The number of characters that one call takes as arguments. */
const chunkLength = 0x8000;

export function isObservedImage(value: unknown): value is ObservedImage {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 2) return false;
  const { mediaType, bytes } = value as Partial<Record<keyof ObservedImage, unknown>>;
  return typeof mediaType === 'string' && mediaType.startsWith('image/') && bytes instanceof Uint8Array;
}

export function imagePart({ mediaType, bytes }: ObservedImage): MediaPart {
  let binary = '';
  for (let start = 0; start < bytes.length; start += chunkLength)
    binary += String.fromCharCode(...bytes.subarray(start, start + chunkLength));
  return { kind: 'image', mediaType, base64: btoa(binary) };
}

/** The bytes as an image; null if the part does not hold them. */
export function observedImage({ mediaType, base64 }: MediaPart): ObservedImage | null {
  if (base64 === undefined || mediaType === undefined) return null;
  return { mediaType, bytes: Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)) };
}

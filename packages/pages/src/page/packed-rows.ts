/** Rows that a script unfolds when they are needed. A browser without scripts does not show them. */
export interface PackedRows {
  /** The anchors of a dispatch begin with it. */
  readonly scope: string;
  /** The positions of the first and the last row. */
  readonly first: number;
  readonly last: number;
  readonly html: string;
}

/** Compressed rows as an item of a list. Base64 has no character that ends the element. */
export async function packedItem({ scope, first, last, html }: PackedRows): Promise<string> {
  const packed = toBase64(await compress(html));
  return `<li class="part" data-scope="${scope}" data-first="${first}" data-last="${last}"><script type="text/plain">${packed}</script></li>\n`;
}

async function compress(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 8_192)
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)));
  return btoa(pieces.join(''));
}

/** The hash of an inline script or style, as a content security policy names it. */
export async function policyHash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return `'sha256-${toBase64(new Uint8Array(digest))}'`;
}

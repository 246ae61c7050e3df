import { readFileSync } from 'node:fs';
import loadWabt from 'wabt';

const source = 'packages/redaction/src/search/anchor-places.wat';
const target = 'packages/redaction/src/search/anchor-places-module.ts';

/** The text of the search for anchors. */
export const anchorPlacesText = readFileSync(new URL(`../${source}`, import.meta.url), 'utf8');

/** The binary form of WebAssembly text. @throws Error if the text is wrong */
export async function compileText(text: string): Promise<Uint8Array> {
  const wabt = await loadWabt();
  const parsed = wabt.parseWat(source, text, { relaxed_simd: true });
  try {
    return parsed.toBinary({}).buffer;
  } finally {
    parsed.destroy();
  }
}

/** Every committed file that is made of WebAssembly text, as it should be: path and text. */
export async function committedModules(): Promise<Record<string, string>> {
  const code = Buffer.from(await compileText(anchorPlacesText)).toString('base64');
  const comment = '/** `anchor-places.wat` in binary form, as base64: `pnpm wasm` writes it. */';
  return { [target]: `${comment}\nexport const anchorPlacesModule =\n  '${code}';\n` };
}

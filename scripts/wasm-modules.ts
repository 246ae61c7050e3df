import { readFileSync } from 'node:fs';
import loadWabt from 'wabt';

const source = 'packages/redaction/src/anchor-places.wat';
const target = 'packages/redaction/src/anchor-places-module.ts';

const root = new URL('../', import.meta.url);

/** Every committed file that is made of WebAssembly text, as it should be: path and text. */
export async function committedModules(): Promise<Record<string, string>> {
  const wabt = await loadWabt();
  const parsed = wabt.parseWat(source, readFileSync(new URL(source, root), 'utf8'), { relaxed_simd: true });
  try {
    const { buffer } = parsed.toBinary({});
    return {
      [target]:
        `/** \`anchor-places.wat\` in binary form, as base64: \`pnpm wasm\` writes it. */\n` +
        `export const anchorPlacesModule =\n  '${Buffer.from(buffer).toString('base64')}';\n`,
    };
  } finally {
    parsed.destroy();
  }
}

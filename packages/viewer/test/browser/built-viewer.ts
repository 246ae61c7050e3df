import type { createViewer } from '../../src/index.ts';

interface Built {
  readonly createViewer: typeof createViewer;
}

const built: string = new URL('../../dist/index.js', import.meta.url).href;

/** The viewer as it is published, with its page. `pnpm build` makes it. */
export async function builtViewer(): Promise<Built> {
  try {
    return (await import(built)) as Built;
  } catch (cause) {
    throw new Error('The viewer is not built; run `npx pnpm@12 build`.', { cause });
  }
}

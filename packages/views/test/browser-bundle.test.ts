import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { createLogIndex, hearingMatrix, renderRow, rowsOf } from '../src/index.ts';
import { marketLog } from './market-log.ts';

const mostBytes = 41_300;

/** The script for a page that imports some views: without imports of its own, with the views in the global `views`. */
async function bundleFor(names: readonly string[]) {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `export { ${names.join(', ')} } from '@hansard/views';`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'views',
    conditions: ['@hansard/source'],
  });
  const [{ text } = { text: '' }] = outputFiles;
  return { text, modules: Object.keys(metafile.inputs) };
}

describe('views on a page', () => {
  it.each([
    ['createLogIndex', 'hearingMatrix'],
    ['rowsOf', 'renderRow'],
    ['createLogIndex', 'hearingMatrix', 'rowsOf', 'renderRow'],
  ])('%s and %s are small, without zod', async (...names) => {
    const { text, modules } = await bundleFor(names);
    expect(gzipSync(text).length).toBeLessThan(mostBytes);
    expect(modules.filter((module) => /node_modules\/zod\//.test(module))).toEqual([]);
  });

  it('give the same result as in Node', async () => {
    const { text } = await bundleFor(['createLogIndex', 'hearingMatrix', 'rowsOf', 'renderRow']);
    const log = JSON.stringify(marketLog());
    // A context has only the language itself: no require, no process, no console, no modules.
    const answer: unknown = runInContext(
      `${text}
      const events = ${log};
      JSON.stringify({
        heard: views.hearingMatrix(views.createLogIndex(events)).rows.map(({ saying, cells }) => [saying, [...cells]]),
        rows: views.rowsOf(events).map((row) => views.renderRow(row)),
      });`,
      createContext({}),
    );
    const events = marketLog();
    expect(JSON.parse(String(answer))).toEqual(
      JSON.parse(
        JSON.stringify({
          heard: hearingMatrix(createLogIndex(events)).rows.map(({ saying, cells }) => [saying, [...cells]]),
          rows: rowsOf(events).map((row) => renderRow(row)),
        }),
      ),
    );
  });
});

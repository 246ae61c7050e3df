import { readFileSync, writeFileSync } from 'node:fs';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import type * as Store from '../src/index.ts';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openStore, taskDir } from './sample.ts';

type Mutation = readonly [file: string, piece: string, instead: string];

const home = new URL('..', import.meta.url).pathname;
const writer = 'dispatch/dispatch-writer.ts';

/** A dispatch that lost its last event after its release, with nothing torn. @returns the code of a read */
async function afterLostEvent(mutation: Mutation): Promise<string> {
  const { openJsonFileStore } = (await importMutated(home, mutation, 'index.ts')) as typeof Store;
  const root = makeRoot();
  const store = openJsonFileStore({ root });
  store.createDispatch(taskDir, makeEnvelope('d1'));
  for (const number of [1, 2, 3]) store.appendEvent(taskDir, 'd1', makeEvent(number));
  store.releaseDispatch(taskDir, 'd1');
  store.close();
  const file = dispatchFile(root, 'd1');
  const text = readFileSync(file, 'latin1');
  writeFileSync(file, text.replace(/,\n\{"id":"e00000003".*\n/, '\n'), 'latin1');
  return codeOf(() => openStore(root).getDispatchEvents(taskDir, 'd1'));
}

describe('a release', () => {
  const piece = '    if (!this.#head.has(this.#acknowledged)) this.writeHead({});\n';

  it('counts the events in the head, so that a file without the last one is damaged', async () => {
    expect(await afterLostEvent([writer, piece, piece])).toBe('STORE_CORRUPT');
  });

  it('that forgets the number of events is found', async () => {
    expect(await afterLostEvent([writer, piece, ''])).toBe('none');
  });
});

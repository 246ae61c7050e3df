import type { CommunicationHub } from '@hansard/dispatch';
import { createCommunicationHub, type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { createMemoryStore } from '@hansard/store-memory';
import { onTestFinished } from 'vitest';
import { createRunPage, type RunPage } from '../src/index.ts';

export const taskDir = 'lab/tasks/maps';

export interface PageOfTest {
  readonly store: DispatchStore;
  readonly communication: CommunicationHub;
  readonly page: RunPage;
  /** The address, after the first dispatch began. */
  readonly address: Promise<URL>;
}

export async function startedPage(store = openDispatchStore(createMemoryStore())): Promise<PageOfTest> {
  const announced = Promise.withResolvers<URL>();
  const page = createRunPage({ announce: (address) => announced.resolve(new URL(address)) });
  const communication = createCommunicationHub([page], { store });
  await communication.start();
  onTestFinished(async () => {
    await communication.close();
    await page.close();
    await store.close();
  });
  return { store, communication, page, address: announced.promise };
}

export interface Message {
  readonly event: string;
  readonly data: unknown;
}

/** A browser without a browser: it has the cookie, and sends what the page sends. */
export async function openClient(address: URL) {
  const first = await fetch(address, { redirect: 'manual' });
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const place = `${address.origin}/api${address.hash.slice(1)}`;
  return {
    place,
    post: async (path: string, body: unknown) => {
      const headers = {
        cookie,
        origin: address.origin,
        'x-hansard': 'page',
        'content-type': 'application/json',
      };
      const answer = await fetch(`${place}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return [answer.status, ((await answer.json()) as { code?: string }).code];
    },
    /** The messages of the live stream, until one is wanted. */
    live: async (isWanted: (message: Message) => boolean): Promise<readonly Message[]> => {
      const leaving = new AbortController();
      const signal = AbortSignal.any([ending.signal, leaving.signal]);
      const answer = await fetch(`${place}/live?after=-1`, { headers: { cookie }, signal });
      const seen: Message[] = [];
      let rest = '';
      for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          const field = (name: string) =>
            block
              .split('\n')
              .find((line) => line.startsWith(`${name}: `))
              ?.slice(name.length + 2);
          const data = field('data');
          if (data === undefined) continue;
          const message = { event: field('event') ?? 'message', data: JSON.parse(data) as unknown };
          seen.push(message);
          if (!isWanted(message)) continue;
          leaving.abort();
          return seen;
        }
      }
      return seen;
    },
  };
}

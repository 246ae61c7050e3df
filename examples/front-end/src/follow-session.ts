import type { StreamMessage } from '@hansard/comm-web';

type Of<T extends StreamMessage['type']> = Extract<StreamMessage, { readonly type: T }>;

export interface FollowSessionOptions {
  onEvent(message: Of<'event'>): void;
  /** What agents are writing now, by the key of each text. */
  onTexts(texts: ReadonlyMap<number, string>): void;
  readonly signal?: AbortSignal;
  /** Milliseconds between connections. */
  readonly retryMs?: number;
}

/** Follows a session until it ends. Every event comes once, in order, however often the connection is lost. */
export async function followSession(
  url: string | URL,
  { onEvent, onTexts, signal, retryMs = 1_000 }: FollowSessionOptions,
): Promise<Of<'end'>['status'] | null> {
  let last = -1;
  while (signal?.aborted !== true) {
    const texts = new Map<number, string>();
    try {
      const headers = { 'last-event-id': String(last) };
      const answer = await fetch(url, { headers, ...(signal === undefined ? {} : { signal }) });
      if (!answer.ok || answer.body === null) throw new Error(`${answer.status}: ${await answer.text()}`);
      for await (const message of messagesOf(answer.body)) {
        if (message.type === 'end') return message.status;
        if (message.type === 'event') {
          last = message.position;
          onEvent(message);
        } else if (message.type === 'writing') {
          for (const { key, from, text } of message.texts) {
            const known = texts.get(key) ?? '';
            texts.set(key, from === known.length ? known + text : text);
          }
          for (const key of message.ended) texts.delete(key);
          onTexts(texts);
        }
      }
    } catch {
      // The next connection continues after the last event.
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
  return null;
}

/** The messages that arrive whole. */
async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamMessage> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length)) as StreamMessage;
    }
  }
}

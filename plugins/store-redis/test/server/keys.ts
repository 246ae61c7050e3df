import { RedisClient } from '@redis/client';

const protocol = { RESP: 2 } as const;
const createClient = RedisClient.factory(protocol);

type Reply = string | number | null | Reply[];

/** Runs one command as a program that knows nothing of the store. */
export async function command(url: string, ...args: readonly string[]): Promise<Reply> {
  const [answer = null] = await commands(url, [args]);
  return answer;
}

export async function commands(url: string, list: readonly (readonly string[])[]): Promise<Reply[]> {
  const client = createClient({ ...protocol, url }).on('error', () => {});
  await client.connect();
  try {
    return await Promise.all(
      list.map((args) => client.sendCommand([...args]) as Promise<unknown> as Promise<Reply>),
    );
  } finally {
    client.destroy();
  }
}

/** The events below numbers that no dispatch has. */
export async function censusOf(url: string, prefix: string): Promise<string[]> {
  const base = `{${prefix}}:`;
  const keys = (await command(url, 'KEYS', `${base}*`)) as string[];
  const rows = keys.filter((key) => key.startsWith(`${base}d:`));
  const numbers = await commands(
    url,
    rows.map((row) => ['HGET', row, 'number']),
  );
  return keys.filter((key) => {
    const [, number] = /^[ei]:(\d+)$/.exec(key.slice(base.length)) ?? [];
    return number !== undefined && !numbers.includes(number);
  });
}

const reading: Readonly<Record<string, readonly string[]>> = {
  string: ['GET'],
  hash: ['HGETALL'],
  zset: ['ZRANGE', '0', '-1'],
  stream: ['XRANGE', '-', '+'],
};

/** The names and values of all keys of a store, as text. */
export async function valuesOf(url: string, prefix: string): Promise<Buffer> {
  const keys = (await command(url, 'KEYS', `{${prefix}}:*`)) as string[];
  const types = await commands(
    url,
    keys.map((key) => ['TYPE', key]),
  );
  const reads = keys.map((key, at) => {
    const [verb = 'TYPE', ...args] = reading[String(types[at])] ?? [];
    return [verb, key, ...args];
  });
  return Buffer.from(JSON.stringify([keys, await commands(url, reads)]));
}

interface Name {
  readonly taskDir: string;
  readonly dispatchId: string;
}

/** Renames the row of a dispatch and its entries in the lists, as a program does that changes a key. */
export async function renameRow(url: string, prefix: string, from: Name, to: Name): Promise<void> {
  const base = `{${prefix}}:`;
  const key = ({ taskDir, dispatchId }: Name) => `${base}d:${taskDir}/${dispatchId}`;
  const [started, replaced] = await commands(url, [
    ['HGET', key(from), 'started'],
    ['HGET', key(to), 'started'],
  ]);
  const entries = (verb: string, { taskDir, dispatchId }: Name, at: Reply | undefined) => {
    const score = verb === 'ZADD' ? ['0'] : [];
    return [
      [verb, `${base}l`, ...score, `${at}\0${taskDir}\0${dispatchId}`],
      [verb, `${base}t:${taskDir}`, ...score, `${at}\0${dispatchId}`],
    ];
  };
  await commands(url, [
    ...entries('ZREM', from, started),
    ...(replaced === null ? [] : entries('ZREM', to, replaced)),
    ['RENAME', key(from), key(to)],
    ...entries('ZADD', to, started),
    ['ZADD', `${base}tasks`, '0', to.taskDir],
  ]);
}

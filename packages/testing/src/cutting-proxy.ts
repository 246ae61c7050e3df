import { connect, createServer, type Socket } from 'node:net';

/** Between a store and its server. */
export interface CuttingProxy {
  readonly port: number;
  /** The number of connections that were cut. */
  readonly cuts: number;
  /** Whether the next answer of the server is dropped and its connection reset. The statement has reached the server then. */
  shouldCut: () => boolean;
  /** From now on nothing is passed on in either direction, and no connection ends: like a cable that was pulled. */
  block(): void;
  close(): void;
}

export async function startProxy(serverPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let isBlocked = false;
  const proxy = {
    port: 0,
    cuts: 0,
    shouldCut: () => false,
    block: () => {
      isBlocked = true;
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  const server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (bytes) => isBlocked || upstream.write(bytes));
    upstream.on('data', (bytes) => {
      if (isBlocked) return;
      if (!proxy.shouldCut()) {
        client.write(bytes);
        return;
      }
      proxy.cuts += 1;
      client.resetAndDestroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  proxy.port = typeof address === 'object' && address !== null ? address.port : 0;
  return proxy;
}

/** Starts a server, prints its URL, and waits to be killed. */
import { writeSync } from 'node:fs';
import { startServer } from '../server/start-server.ts';

const { url } = await startServer();
writeSync(1, `${url()}\n`);
process.stdin.resume();

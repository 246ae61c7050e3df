/** Starts a server, prints its URL, and waits to be killed. */
import { writeSync } from 'node:fs';
import { startServer } from '@hansard/testing/postgres';

const { url } = await startServer();
writeSync(1, `${url()}\n`);
process.stdin.resume();

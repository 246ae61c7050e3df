// The server that `viewer.ts` measures: `viewer-server.mjs sqlite|jsonfile PATH`, of the built packages alone, as users run it.
// It is JavaScript: the removal of types would be part of its memory.
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openSqliteStore } from '@hansard/store-sqlite';
import { createViewer } from '@hansard/viewer';

const [kind, path] = process.argv.slice(2);
const provider = kind === 'sqlite' ? openSqliteStore({ path }) : openJsonFileStore({ root: path });
const running = await createViewer({ store: openDispatchStore(provider) }).start();
console.log(running.url);

import { type DispatchStore, openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openPostgresStore } from '@hansard/store-postgres';
import { openSqliteStore } from '@hansard/store-sqlite';

export const letterStores = ['jsonfile', 'sqlite', 'postgres'] as const;
export type LetterStore = (typeof letterStores)[number];

/** Milliseconds: the claim of a killed owner on a server ends soon. */
const leaseMs = 1_000;

/** The store that several processes of a test share. `place`: a path, or a URL and a schema. */
export async function openLetterStore(kind: LetterStore, place: string): Promise<DispatchStore> {
  if (kind === 'sqlite') return openDispatchStore(openSqliteStore({ path: place }));
  if (kind === 'jsonfile') return openDispatchStore(openJsonFileStore({ root: place }));
  const [url = '', schema = ''] = place.split(' ');
  return openDispatchStore(await openPostgresStore({ url, schema, leaseMs, connections: 2 }));
}

import { useServer } from '@hansard/testing/postgres-in-tests';
import { expect, it } from 'vitest';
import { killServer } from './attacks.ts';

const server = useServer();

it('a server that is killed while events are appended has every acknowledged one, also after a kill of one of its processes', async () => {
  expect((await killServer(server()))['appends repeated']).toBeGreaterThan(0);
});

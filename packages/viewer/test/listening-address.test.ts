import { expect, it } from 'vitest';
import { createViewer, viewerErrors } from '../src/index.ts';
import { hostsAt, isLoopback, type MachineNames } from '../src/server/create-viewer.ts';
import { openStore } from './viewed.ts';

const machine: MachineNames = {
  interfaces: {
    lo: [
      { address: '127.0.0.1', family: 'IPv4', internal: true },
      { address: '::1', family: 'IPv6', internal: true },
    ],
    eth0: [
      { address: '192.168.1.5', family: 'IPv4', internal: false },
      { address: 'fe80::1', family: 'IPv6', internal: false },
      { address: '2001:db8::5', family: 'IPv6', internal: false },
    ],
  },
  name: 'Lab',
};

it.each([
  ['127.0.0.1', ['127.0.0.1:47', 'localhost:47']],
  ['localhost', ['localhost:47']],
  ['::1', ['[::1]:47', 'localhost:47']],
  ['192.168.1.5', ['192.168.1.5:47']],
  ['Lab.example', ['lab.example:47']],
  ['0.0.0.0', ['192.168.1.5:47', '127.0.0.1:47', 'localhost:47', 'lab:47']],
  ['::', ['192.168.1.5:47', '[2001:db8::5]:47', '127.0.0.1:47', '[::1]:47', 'localhost:47', 'lab:47']],
])('answers at %s to the names of that address only', (host, hosts) => {
  expect(hostsAt(host, 47, machine)).toEqual(hosts);
});

it('takes no other address than that of the loopback for one that only this machine can reach', () => {
  for (const host of ['0.0.0.0', '::', '127.0.0.2', '192.168.1.5', '', 'localhost.example'])
    expect([host, isLoopback(host)]).toEqual([host, false]);
});

it('listens at another address only with a token of the user', async () => {
  const store = await openStore();
  const refused = await createViewer({ store })
    .start({ host: '127.0.0.2' })
    .catch((error: unknown) => error);
  expect(viewerErrors.is(refused) && refused.code).toBe('VIEW_TOKEN_NEEDED');
  const token = 'a-token-that-the-user-has-chosen';
  // Linux has every address of 127.0.0.0/8. Other platforms have one of them.
  const host = process.platform === 'linux' ? '127.0.0.2' : 'localhost';
  const running = await createViewer({ store, token }).start({ host });
  try {
    expect(running.url).toBe(`http://${host}:${running.port}/?t=${token}`);
    const answer = await fetch(`http://${host}:${running.port}/api/tasks`, {
      headers: { cookie: `hansard-${running.port}=${token}` },
    });
    expect(answer.status).toBe(200);
  } finally {
    await running.close();
  }
});

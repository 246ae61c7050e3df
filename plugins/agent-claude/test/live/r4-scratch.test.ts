import { expect, it } from 'vitest';
import { setTimeout as delay } from 'node:timers/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { ofType } from '../run-agent.ts';
import { useLiveAgents } from './live-agent.ts';
const live = useLiveAgents();
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => { try { const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '); const e = readFileSync(`/proc/${pid}/environ`, 'utf8'); return `${line} ${e}`.includes(text) && Number(pid) !== process.pid ? [line.slice(0,100)] : []; } catch { return []; } });
}
it('abort while session loads', async () => {
  const c = new AbortController(); const folder = live.newFolder(); const gate = Promise.withResolvers<any>();
  const t = Date.now();
  const id = '7f1f3c5e-0b1e-4a55-9d8e-2f6f6a3f6c11';
  const sessionStore = { append: async () => {}, load: () => { setTimeout(() => c.abort(), 50); setTimeout(() => gate.resolve([{ type: 'user', uuid: '11111111-0b1e-4a55-9d8e-2f6f6a3f6c11', parentUuid: null, sessionId: id, timestamp: '2026-01-01T00:00:00.000Z', message: { role: 'user', content: 'hi' }, cwd: folder + '/work', isSidechain: false, userType: 'external', version: '2.0.0' }]), 300); return gate.promise; } };
  const { events, envelope, requests } = await live.run(() => [{ type: 'text', text: 'x' }], { folder, resumeSessionId: id, signal: c.signal, agentOptions: { sessionStore } });
  console.log(envelope.status, Date.now() - t, events.map(e => e.type), requests.length, processesWith(folder));
  await delay(1500); console.log(requests.length, processesWith(folder));
}, 30000);
it('abort at start', async () => {
  const c = new AbortController(); const folder = live.newFolder();
  const t = Date.now(); setTimeout(() => c.abort(), 150);
  const { events, envelope, requests } = await live.run(() => [{ type: 'text', text: 'x' }], { folder, signal: c.signal });
  console.log(envelope.status, Date.now() - t, events.map(e => e.type), requests.length, processesWith(folder));
}, 30000);
it('session missing in store', async () => {
  const { events, envelope } = await live.run(() => [{ type: 'text', text: 'x' }], { resumeSessionId: '7f1f3c5e-0b1e-4a55-9d8e-2f6f6a3f6c11', agentOptions: { sessionStore: { append: async () => {}, load: async () => null } } });
  console.log(envelope.status, JSON.stringify(ofType(events, 'harness:error')));
}, 30000);
it('store fails', async () => {
  const { events, envelope } = await live.run(() => [{ type: 'text', text: 'x' }], { agentOptions: { sessionStore: { append: async () => { throw new Error('disk full') }, load: async () => null } } });
  console.log(envelope.status, JSON.stringify(ofType(events, 'system:mirror_error')), events.map(e => e.type));
}, 30000);

import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { durableStores, recordedIn } from './durable-stores.ts';

const token = (end: string) => `AKIAQWERTYUIOPASDFG${end}`;
const folder = `c/tasks/${token('Z')}`;

describe.each(durableStores)('a secret in an id or the name of a folder in the $name store', (store) => {
  async function withSecrets(texts: readonly string[]): Promise<CommandLine> {
    const line = await recordedIn(store);
    await using opened = openDispatchStore(store.open(line.cwd));
    const dispatch = await opened.beginDispatch(folder, { role: 'worker', dispatchId: 'D4SECRET' });
    for (const text of texts)
      await dispatch.append(newEvent('agent:text', { text }, { agentId: token('A'), messageId: token('M') }));
    await dispatch.end({ status: 'completed' });
    return line;
  }

  const kept = 'ids, types, times and names of folders';
  const name = 'c/[REDACTED:aws-access-key]';

  it('is marked by scan-secrets, which does not say that redact replaces it, and exits with 4', async () => {
    using line = await withSecrets(['one']);
    const { code, out, err } = await line.hansard('secrets', 'scan', folder);
    expect([code, out]).toEqual([
      4,
      `${name} task folder: aws-access-key (stays)
${name} D4SECRET envelope /taskSlug: aws-access-key (stays)
${name} D4SECRET event 0 (agent:text) /agentId: aws-access-key (stays)
${name} D4SECRET event 0 (agent:text) /messageId: aws-access-key (stays)
1 session, 1 event: 4 secrets (4 aws-access-key); 4 in ${kept}.
`,
    ]);
    expect(err).toContain(`\`hansard secrets redact\` does not change ${kept}.`);
    expect(err).not.toContain('replaces');
    const asJson = await line.hansard('secrets', 'scan', folder, '--json');
    const rows = asJson.json() as { secret?: { isKept: boolean } }[];
    expect(rows.flatMap(({ secret }) => secret?.isKept ?? [])).toEqual([true, true, true, true]);
    expect(out + err + asJson.out + asJson.err).not.toContain(token(''));
  });

  it('is counted apart from those that redact replaces', async () => {
    using line = await withSecrets([`with ${token('T')}`]);
    const { code, err } = await line.hansard('secrets', 'scan');
    expect([code, err]).toEqual([
      4,
      `hansard: 5 secrets found.\n  Revoke them at their issuers. \`hansard secrets redact\` replaces 1 of them in the log. 4 in ${kept} stay.\n`,
    ]);
  });

  it('is counted by redact, which replaces the others and exits with 0', async () => {
    using line = await withSecrets([`with ${token('T')}`, 'two']);
    const { code, out, err } = await line.hansard('secrets', 'redact', '--yes');
    expect([code, out]).toEqual([
      0,
      `${name} task record: 1 aws-access-key in ids or names (stays)
${name} D4SECRET: 1 aws-access-key in 1 event; 5 aws-access-key in ids or names (stays)
4 sessions, 1 changed: 1 aws-access-key replaced.
`,
    ]);
    const note = `Not covered: 6 aws-access-key in ${kept}, which stay. Revoke them at their issuers.\n`;
    expect(err).toContain(note);
    const again = await line.hansard('secrets', 'redact', '--yes', '--json');
    expect([again.code, again.err]).toEqual([0, `${note}4 sessions: no secret was replaced.\n`]);
    expect(again.json()).toMatchObject([
      { dispatchId: null, isTaskRecord: true, counts: {}, kept: { 'aws-access-key': 1 } },
      { dispatchId: 'D4SECRET', counts: {}, events: 0, kept: { 'aws-access-key': 5 } },
    ]);
    expect(out + err + again.out).not.toContain(token(''));
    expect((await line.hansard('secrets', 'scan')).code).toBe(4);
  });
});

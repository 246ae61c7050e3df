import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CampaignName, campaignNames, campaignVersion } from '../campaigns/run-facts.ts';
import { checks, reliabilityDoc } from '../reliability-doc.ts';
import { root } from '../workspace.ts';

it('docs/reliability.md has the figures of the campaigns (else: pnpm docs:reliability)', () => {
  expect(readFileSync(join(root, 'docs/reliability.md'), 'utf8')).toBe(reliabilityDoc());
});

it('no attack of the campaign lost something, or was silent', () => {
  const campaigns = JSON.parse(readFileSync(join(root, 'scripts/campaigns/reliability.json'), 'utf8'));
  const failures = Object.values<{ failure: string | null }>(campaigns).map(({ failure }) => failure);
  expect(failures.length).toBeGreaterThan(9);
  expect(failures.filter((failure) => failure !== null)).toEqual([]);
});

it('has ten rows, and defines acknowledged as the contract does', () => {
  expect(checks).toHaveLength(10);
  const definition = /^An event is _acknowledged_[\s\S]*?(?=\n\n)/m.exec(
    readFileSync(join(root, 'docs/contract.md'), 'utf8'),
  );
  expect(definition).not.toBeNull();
  expect(readFileSync(join(root, 'docs/reliability.md'), 'utf8')).toContain(definition?.[0]);
});

/** How a campaign is run again. */
const commands: Readonly<Record<CampaignName, string>> = {
  simulation: 'pnpm campaign:simulation',
  leases: 'pnpm campaign:leases',
  'planted-faults': 'node --conditions=@hansard/source scripts/campaigns/planted-faults.ts',
  reliability: 'pnpm campaign:reliability',
  truth: 'pnpm campaign:truth',
  trees: 'pnpm campaign:trees',
  parts: 'pnpm campaign:parts',
  releases: 'pnpm campaign:releases',
  watch: 'pnpm campaign:watch --changes 10000',
  python: 'HANSARD_PYTHON_SESSIONS=1000 pnpm vitest run packages/session/test/python',
};

/** The figures of a campaign whose version is not `version`, each with what to do. */
function oldFigures(name: CampaignName, version = campaignVersion(name)): string[] {
  const file = name === 'leases' ? 'lease-simulation' : name;
  const all: unknown = JSON.parse(readFileSync(join(root, `scripts/campaigns/${file}.json`), 'utf8'));
  const figures = typeof all === 'object' && all !== null && 'version' in all ? { [name]: all } : all;
  return Object.entries(figures as Record<string, { version?: string }>)
    .filter(([, one]) => one.version !== version)
    .map(
      ([key, one]) =>
        `${file}.json, ${key}: the figures are of ${one.version}, and the code is ${version}. Run: ${commands[name]}`,
    );
}

describe('the committed figures of a campaign are of the version of its code', () => {
  it.each(campaignNames)('%s', (name) => {
    expect(oldFigures(name)).toEqual([]);
  });

  it('figures of another version are named, with the command that makes new ones', () => {
    for (const name of campaignNames) {
      const [line, ...others] = oldFigures(name, 'edition 99');
      expect(line).toContain(`the code is edition 99. Run: ${commands[name]}`);
      expect(others.every((other) => other.includes(commands[name]))).toBe(true);
    }
  });
});

it.each(checks)('%s: the tests exist', (_attack, _result, files) => {
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

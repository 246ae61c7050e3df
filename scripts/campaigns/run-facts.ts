import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { contractVersion } from '../../packages/provider/src/index.ts';

/**
 * What a campaign does, as a number. Raise it when the campaign does something else: other calls or faults, another judge, or a store format that
 * its older figures say nothing about. A change of a source does not raise it; the commit beside the figures names the sources.
 */
const editions = {
  simulation: 3,
  leases: 3,
  'planted-faults': 3,
  reliability: 1,
  truth: 1,
  trees: 1,
  releases: 1,
  python: 1,
  watch: 1,
  parts: 1,
} as const;

export type CampaignName = keyof typeof editions;

export const campaignNames = Object.keys(editions) as readonly CampaignName[];

/** The version of the figures that a campaign writes now: its edition, the release of the packages, and the version of the contracts. */
export function campaignVersion(name: CampaignName): string {
  const file = new URL('../../packages/provider/package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return `edition ${editions[name]}, release ${version}, contract ${contractVersion}`;
}

/** What says of which code and machine the figures of a campaign are. */
export function runFacts(name: CampaignName) {
  return {
    version: campaignVersion(name),
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform}, Node.js ${process.version}`,
  };
}

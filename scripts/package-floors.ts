import type { WorkspacePackage } from './workspace.ts';
import { workspacePackages } from './workspace.ts';

/** Where the diagram stands in `README.md`: the first fenced text block after this line. */
export const diagramPattern = /(<!-- floors: pnpm docs:floors -->\n```text\n)([\s\S]*?)(```)/;

/**
 * The published packages by floor, the lowest first. Floor 0 depends on no package of ours; any other package is one floor
 * above the highest that it depends on. So every import points to a lower floor.
 */
export function packageFloors(packages: readonly WorkspacePackage[] = workspacePackages()): string[][] {
  const published = packages.filter((entry) => !entry.private);
  const byName = new Map(published.map((entry) => [entry.name, entry]));
  const floors = new Map<string, number>();
  const floorOf = (name: string, path: readonly string[]): number => {
    const known = floors.get(name);
    if (known !== undefined) return known;
    if (path.includes(name)) throw new Error(`Packages depend on each other: ${[...path, name].join(' → ')}`);
    const lower = (byName.get(name)?.dependencies ?? []).filter((dependency) => byName.has(dependency));
    const floor = Math.max(-1, ...lower.map((dependency) => floorOf(dependency, [...path, name]))) + 1;
    floors.set(name, floor);
    return floor;
  };
  const result: string[][] = [];
  for (const { name } of published) {
    const floor = floorOf(name, []);
    result[floor] = [...(result[floor] ?? []), name.replace('@hansard/', '')];
  }
  return result;
}

/** The floors as text, the highest on top, at most `width` characters wide. */
export function renderFloors(floors: readonly (readonly string[])[], width = 100): string {
  return floors
    .map((names, floor) => {
      const lines = [`${floor}  `];
      for (const name of names) {
        const last = lines.at(-1) ?? '';
        if (last.length + name.length + 2 > width) lines.push(`   ${name}`);
        else lines[lines.length - 1] = last.endsWith('  ') ? last + name : `${last}, ${name}`;
      }
      return `${lines.join('\n')}\n`;
    })
    .reverse()
    .join('');
}

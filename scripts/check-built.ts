import { existsSync, readFileSync } from 'node:fs';

// Run before a package is packed, in its folder: an unbuilt package would be published without what its manifest names.
const { name, exports = {}, bin = {} } = JSON.parse(readFileSync('package.json', 'utf8'));
const missing = pathsIn([exports, bin]).filter((path) => !path.includes('*') && !existsSync(path));
if (missing.length > 0) {
  console.error(
    `${name} is not built: ${missing.join(', ')} must exist. Run \`pnpm build\` in the repository first.`,
  );
  process.exitCode = 1;
}

/** Every path that a manifest names, at any depth of its conditions. */
function pathsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(pathsIn) : [];
}

import { describe, expect, it } from 'vitest';
import { linked, linkedPackages, linksOf, repositoryUrl } from '../package-links.ts';

const url = 'git+https://code.example.com/them/hansard.git';

describe('the fields of each published package', () => {
  it('have the links of the repository that the root names, or none where it names none', () => {
    for (const { folder, manifest, expected } of linkedPackages())
      expect(JSON.stringify(manifest), folder).toBe(JSON.stringify(expected));
  });

  it('have a description, a licence and keywords, and those of a plugin say what it is', () => {
    const found = linkedPackages();
    expect(found.length).toBeGreaterThan(30);
    for (const { folder, manifest } of found) {
      const { description, license, keywords } = manifest as Record<string, unknown>;
      expect(description, folder).toMatch(/^[A-Z].{10,}\.$/);
      expect(license, folder).toBe('MIT');
      expect(keywords, folder).toEqual(expect.arrayContaining(['hansard', 'agents']));
      if (folder.startsWith('plugins/')) expect(keywords, folder).toContain('hansard-plugin');
    }
  });
});

describe('links', () => {
  it('lead to the folder of a package, its page and the issues', () => {
    expect(linksOf(url, 'packages/events')).toEqual({
      repository: { type: 'git', url, directory: 'packages/events' },
      homepage: 'https://code.example.com/them/hansard/tree/main/packages/events#readme',
      bugs: { url: 'https://code.example.com/them/hansard/issues' },
    });
  });

  it('stand after the licence, replace older ones, and go when there is no address', () => {
    const manifest = { name: 'a', license: 'MIT', homepage: 'old', files: [] };
    const withLinks = linked(manifest, 'packages/a', url);
    expect(Object.keys(withLinks)).toEqual(['name', 'license', 'repository', 'homepage', 'bugs', 'files']);
    expect(linked(withLinks, 'packages/a', url)).toEqual(withLinks);
    expect(linked(withLinks, 'packages/a', null)).toEqual({ name: 'a', license: 'MIT', files: [] });
  });

  it.each([
    [{ repository: { url } }, url],
    [{ repository: { url: 'https://code.example.com/them/hansard' } }, null],
    [{ repository: 'them/hansard' }, null],
    [{}, null],
  ])('of %j have the address %s', (manifest, expected) => {
    expect(repositoryUrl(manifest)).toBe(expected);
  });
});

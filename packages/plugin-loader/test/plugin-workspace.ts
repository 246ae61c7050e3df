import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A temporary folder with plugins, gone when the test is. */
export interface PluginWorkspace {
  readonly baseDir: string;
  write(path: string, content: unknown): void;
  /** Writes a plugin folder; `manifest` and `entry` go over what a good one has. */
  plugin(path: string, parts?: PluginParts): void;
}

export interface PluginParts {
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly entry?: string;
  readonly packageJson?: Readonly<Record<string, unknown>>;
}

export function createWorkspace(): PluginWorkspace {
  const baseDir = realpathSync(mkdtempSync(join(tmpdir(), 'hansard-plugins-')));
  onTestFinished(() => rmSync(baseDir, { recursive: true, force: true }));

  function write(path: string, content: unknown): void {
    const file = join(baseDir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }

  function plugin(path: string, parts: PluginParts = {}): void {
    const manifest = { id: 'tool', provides: 'ToolProvider', entry: './entry.mjs', apiVersion: 1 };
    const whole = { ...manifest, ...parts.manifest };
    write(`${path}/plugin.json`, whole);
    write(`${path}/entry.mjs`, parts.entry ?? entryOf(whole.id, whole.provides));
    if (parts.packageJson !== undefined) write(`${path}/package.json`, parts.packageJson);
  }

  return { baseDir, write, plugin };
}

/** An entry whose provider is what `create` of the configuration makes; without one, a tool provider. */
export function entryOf(id: string, provides = 'ToolProvider'): string {
  return `
    const provider = () => ({ contract: 1, listTools: () => [], callTool: () => ({ status: 'completed', text: '' }) });
    export default {
      id: ${JSON.stringify(id)},
      provides: ${JSON.stringify(provides)},
      create: (config, context) => (config.create ?? provider)(context),
    };`;
}

/** What `entryOf` calls in place of its own provider. */
export function creating(create: (context: { readonly signal: AbortSignal }) => unknown): {
  readonly create: typeof create;
} {
  return { create };
}

export function toolProvider(close?: () => unknown): Record<string, unknown> {
  return {
    contract: 1,
    listTools: () => [],
    callTool: () => ({ status: 'completed', text: '' }),
    ...(close && { close }),
  };
}

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { loadConfig } from '@hansard/compose';
import { isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { type Command, Option } from 'commander';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { homeOf } from './import-home.ts';

const managers = ['systemd', 'launchd'] as const;
type Manager = (typeof managers)[number];

interface ServiceOptions extends CommonOptions {
  readonly write?: boolean;
  readonly as?: Manager;
}

/** A file that starts the watch, and what a user does next. */
interface ServiceFile {
  readonly path: string;
  readonly text: string;
  readonly next: string;
}

/** Adds `watch install` and `watch uninstall`: the service of the user, and the hook of Claude Code. */
export function addWatchService(parent: Command, context: CliContext): void {
  const manager = () =>
    new Option('--as <manager>', 'the service manager (default: that of this system)').choices(managers);
  const install = parent
    .command('install')
    .description('print a service that watches at every start, and a hook of Claude Code')
    .option('--write', 'write both files, and leave everything else in them as it is')
    .addOption(manager());
  withExamples(withCommonOptions(install), 'watch install', 'watch install --write').action(() =>
    runInstall(context, install.optsWithGlobals()),
  );
  const uninstall = parent
    .command('uninstall')
    .description('remove the service file and the hook that `watch install` wrote; what is recorded stays')
    .addOption(manager());
  withExamples(withCommonOptions(uninstall), 'watch uninstall').action(() =>
    runUninstall(context, uninstall.optsWithGlobals()),
  );
}

async function runInstall(context: CliContext, options: ServiceOptions): Promise<void> {
  const { write = false } = options;
  const service = serviceFile(context, options);
  const settings = settingsFile(context);
  const hook = hookOf(watchCommand(context, options));
  if (write) {
    if (service !== null) replaceFile(service.path, service.text);
    replaceFile(settings, `${JSON.stringify(withHook(readSettings(settings), hook), null, 2)}\n`);
  }
  const hooks = { hooks: Object.fromEntries(hookEvents.map((event) => [event, [hook]])) };
  const verb = write ? 'written' : 'would be written';
  await printAnswer(context, options, {
    rows: [{ written: write, service, settings, ...hooks }],
    text: [
      ...(service === null ? ['This system has no known service manager; --as names one.'] : []),
      ...(service === null ? [] : [`# ${service.path} (${verb})`, service.text]),
      `# ${settings} (${write ? 'these hooks were added' : 'these hooks would be added'})`,
      JSON.stringify(hooks, null, 2),
    ].join('\n'),
    notesAfter:
      service === null
        ? []
        : [
            write
              ? `hansard: start it with: ${service.next}`
              : 'hansard: nothing was written; --write writes both.',
          ],
  });
}

async function runUninstall(context: CliContext, options: ServiceOptions): Promise<void> {
  const service = serviceFile(context, options);
  const settings = settingsFile(context);
  const removed: string[] = [];
  if (service !== null && existsSync(service.path)) {
    rmSync(service.path);
    removed.push(service.path);
  }
  if (existsSync(settings)) {
    const before = readSettings(settings);
    const after = withoutHook(before);
    if (JSON.stringify(after) !== JSON.stringify(before)) {
      replaceFile(settings, `${JSON.stringify(after, null, 2)}\n`);
      removed.push(`the hooks in ${settings}`);
    }
  }
  await printAnswer(context, options, {
    rows: [{ removed }],
    text: removed.length === 0 ? 'Nothing was installed.' : `Removed: ${removed.join(', ')}.`,
    notesAfter: removed.includes(service?.path ?? '')
      ? ['hansard: a service that runs already ends at the next start of the machine, or when you stop it.']
      : [],
  });
}

/** The words that start the watch with this store, wherever they are run. */
function watchCommand(context: CliContext, options: ServiceOptions, flags: readonly string[] = []): string[] {
  const { config, root } = options;
  const { baseDir } = loadConfig(context, { config, root });
  const place = config === undefined ? ['--root', baseDir] : ['--config', resolve(context.cwd, config)];
  const [, script = 'hansard'] = process.argv;
  return [process.execPath, ...flags, ...process.execArgv, script, 'watch', ...place];
}

const name = 'hansard-watch';

/** A service is idle for hours, and its speed matters less than its memory. */
const smallHeap = ['--max-semi-space-size=1', '--optimize-for-size'];

function serviceFile(context: CliContext, options: ServiceOptions): ServiceFile | null {
  const { platform } = process;
  const manager = options.as ?? (platform === 'darwin' ? 'launchd' : platform === 'linux' ? 'systemd' : null);
  const command = watchCommand(context, options, smallHeap);
  const home = homeOf(context);
  if (manager === 'systemd')
    return {
      path: join(context.env.XDG_CONFIG_HOME || join(home, '.config'), `systemd/user/${name}.service`),
      text: systemdUnit(command),
      next: `systemctl --user enable --now ${name}`,
    };
  if (manager === null) return null;
  const path = join(home, `Library/LaunchAgents/${name}.plist`);
  return { path, text: launchAgent(command), next: `launchctl load -w ${path}` };
}

function systemdUnit(command: readonly string[]): string {
  const quoted = command.map((word) => `"${word.replace(/[\\"]/g, '\\$&').replace(/[%$]/g, '$&$&')}"`);
  return [
    '[Unit]',
    'Description=Hansard records what agents do on this machine',
    '',
    '[Service]',
    `ExecStart=${quoted.join(' ')} --quiet`,
    'Restart=on-failure',
    'RestartSec=30',
    'Nice=10',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

function launchAgent(command: readonly string[]): string {
  const escaped = [...command, '--quiet'].map((word) =>
    word.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    `  <key>Label</key><string>${name}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...escaped.map((word) => `    <string>${word}</string>`),
    '  </array>',
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>30</integer>',
    '  <key>ProcessType</key><string>Background</string>',
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
}

/** The last of these comes when a session has ended. A transcript is written after the hook, so the command waits until it has settled. */
const hookEvents = ['Stop', 'SessionEnd'] as const;

const mark = ' --once --quiet';

function hookOf(command: readonly string[]): JsonObject {
  const quoted = command.map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`,
  );
  return { hooks: [{ type: 'command', command: `${quoted.join(' ')}${mark}`, async: true, timeout: 120 }] };
}

const isOwnHook = (hook: JsonValue): boolean =>
  isPlainObject(hook) &&
  typeof hook.command === 'string' &&
  hook.command.endsWith(mark) &&
  / watch /.test(hook.command);

function settingsFile(context: CliContext): string {
  const folder = context.env.CLAUDE_CONFIG_DIR?.split(',')[0] || join(homeOf(context), '.claude');
  return join(folder, 'settings.json');
}

/** @throws CliError for a file that is not an object, which stays as it is */
function readSettings(path: string): JsonObject {
  if (!existsSync(path)) return {};
  try {
    const settings: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (isPlainObject(settings) && isPlainObject(settings.hooks ?? {})) return settings as JsonObject;
  } catch (cause) {
    throw notSettings(path, cause);
  }
  throw notSettings(path, undefined);
}

function notSettings(path: string, cause: unknown): CliError {
  return new CliError(
    exitCode.failed,
    `${path} is not a JSON object with hooks. It was not changed.`,
    'Correct the file, or add the hooks that `hansard watch install` prints.',
    { cause },
  );
}

/** The groups of hooks of an event without those of the watch. */
function othersOf(groups: JsonValue | undefined): JsonValue[] {
  if (!Array.isArray(groups)) return [];
  return groups.flatMap((group) => {
    if (!isPlainObject(group) || !Array.isArray(group.hooks)) return [group];
    const hooks = group.hooks.filter((hook) => !isOwnHook(hook));
    return hooks.length === 0 && group.hooks.length > 0 ? [] : [{ ...group, hooks }];
  });
}

function withoutHook(settings: JsonObject): JsonObject {
  const { hooks = {}, ...others } = settings;
  const left = Object.entries(hooks as JsonObject).flatMap(([event, groups]) => {
    const rest = othersOf(groups);
    return rest.length === 0 && Array.isArray(groups) && groups.length > 0 ? [] : [[event, rest] as const];
  });
  return left.length === 0 && 'hooks' in settings && Object.keys(hooks as JsonObject).length > 0
    ? others
    : 'hooks' in settings
      ? { ...settings, hooks: Object.fromEntries(left) }
      : settings;
}

function withHook(settings: JsonObject, hook: JsonObject): JsonObject {
  const before = (withoutHook(settings).hooks ?? {}) as JsonObject;
  const added = hookEvents.map((event) => [event, [...othersOf(before[event]), hook]]);
  return { ...settings, hooks: { ...before, ...Object.fromEntries(added) } };
}

function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const next = `${path}.hansard-new`;
  writeFileSync(next, text);
  renameSync(next, path);
}

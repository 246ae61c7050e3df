import { loadConfig, loadConfigured } from '@hansard/compose';
import {
  type LoadedPlugins,
  type LoadReport,
  renderLoadReport,
  type ServerReport,
} from '@hansard/plugin-loader';
import { type DispatchStoreProvider, storeErrors, systemClock } from '@hansard/provider';
import { packageDirs } from '../harness.ts';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';

export const addPlugins: AddCommand = (command, context) => {
  withCommonOptions(command)
    .addHelpText(
      'after',
      '\nA store on a server is shown with the server, its version and the time of one round trip. The command does not fail because a server is away.\n\nExample:\n  hansard plugins --json',
    )
    .action(async (options: CommonOptions) => {
      const { plugins } = await loadConfigured(loadConfig(context, options), { packageDirs });
      const report = await withServers(plugins);
      const away = serversAway(plugins);
      await plugins.close();
      const failed = report.plugins.filter(({ id, state }) => state === 'failed' && !away.has(id));
      const failure = new CliError(
        exitCode.failed,
        `${failed.length} of ${report.plugins.length} plugins could not be loaded.`,
        "The report above has the reasons; docs/errors.md in Hansard's repository explains each code.",
      );
      await printAnswer(context, options, {
        rows: [report],
        text: renderLoadReport(report),
        failure: failed.length > 0 ? failure : null,
      });
    });
};

/** The report, with the server of each loaded store that has one. */
async function withServers(plugins: LoadedPlugins): Promise<LoadReport> {
  const servers = new Map<string, ServerReport | undefined>();
  for (const { id, provider } of plugins.providers('DispatchStoreProvider'))
    servers.set(id, await askServer(provider));
  return {
    ...plugins.report,
    plugins: plugins.report.plugins.map((entry) => {
      const server = entry.state === 'loaded' ? servers.get(entry.id) : undefined;
      return server === undefined ? entry : { ...entry, server };
    }),
  };
}

async function askServer(store: DispatchStoreProvider): Promise<ServerReport | undefined> {
  if (store.getServer === undefined) return undefined;
  const start = systemClock.monotonic();
  try {
    const { name, version } = await store.getServer();
    return { name, version, latencyMs: systemClock.monotonic() - start };
  } catch (error) {
    if (!storeErrors.is(error)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

/** The ids of the stores that were not opened because their server cannot be reached now. */
function serversAway({ errors }: LoadedPlugins): ReadonlySet<unknown> {
  const away = errors.filter(({ cause }) => storeErrors.is(cause) && cause.isTransient);
  return new Set(away.map(({ details }) => details.plugin));
}

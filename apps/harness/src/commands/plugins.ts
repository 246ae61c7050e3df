import { renderLoadReport } from '@hansard/plugin-loader';
import { loadConfig } from '../config.ts';
import { loadConfigured } from '../harness.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { printJson, printLine } from '../terminal/context.ts';

export const addPlugins: AddCommand = (program, context) => {
  withCommonOptions(program.command('plugins'))
    .description('every plugin that the configuration names or its folders hold: state, source, timing')
    .addHelpText('after', '\nExample:\n  hansard plugins --json')
    .action(async (options: CommonOptions) => {
      const { plugins } = await loadConfigured(loadConfig(context.cwd, options.config), 'live');
      const { report } = plugins;
      await plugins.close();
      if (options.json) printJson(context, report);
      else printLine(context, renderLoadReport(report));
      const failed = report.plugins.filter(({ state }) => state === 'failed');
      if (failed.length > 0) {
        throw new CliError(
          exitCode.failed,
          `${failed.length} of ${report.plugins.length} plugins could not be loaded.`,
          "The report above says why; docs/errors.md in Hansard's repository has a row for each code.",
        );
      }
    });
};

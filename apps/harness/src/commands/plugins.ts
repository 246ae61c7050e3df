import { renderLoadReport } from '@hansard/plugin-loader';
import { loadConfig } from '../config.ts';
import { loadConfigured } from '../harness.ts';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';

export const addPlugins: AddCommand = (command, context) => {
  withCommonOptions(command)
    .addHelpText('after', '\nExample:\n  hansard plugins --json')
    .action(async (options: CommonOptions) => {
      const { plugins } = await loadConfigured(loadConfig(context.cwd, options.config), 'live');
      const { report } = plugins;
      await plugins.close();
      const failed = report.plugins.filter(({ state }) => state === 'failed');
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

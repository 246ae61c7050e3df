import { loadConfig, loadConfigured, reportPlugins } from '@hansard/compose';
import { renderLoadReport } from '@hansard/plugin-loader';
import { packageDirs } from '../harness.ts';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { addCheck } from './plugins-check.ts';

export const addPlugins: AddCommand = (command, context) => {
  addCheck(command, context);
  withCommonOptions(command)
    .addHelpText(
      'after',
      '\nA store on a server is shown with the server, its version and the time of one round trip. The command does not fail because a server is away.\n\nExamples:\n  hansard plugins --json\n  hansard plugins check ./hansard-store-shelf',
    )
    .action(async (options: CommonOptions) => {
      const { plugins } = await loadConfigured(loadConfig(context, options), { packageDirs });
      const { report, failed } = await reportPlugins(plugins);
      await plugins.close();
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

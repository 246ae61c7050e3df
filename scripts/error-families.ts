import { type ErrorFamily, eventErrors, formatErrors } from '@hansard/events';
import { dispatchErrors } from '../packages/dispatch/src/index.ts';
import { importErrors } from '../packages/import/src/index.ts';
import { contextErrors } from '../packages/prompt/src/index.ts';
import { pluginErrors, storeErrors } from '../packages/provider/src/index.ts';
import { redactionErrors } from '../packages/redaction/src/index.ts';
import { sessionErrors } from '../packages/session/src/index.ts';
import { traceErrors } from '../packages/traces/src/index.ts';
import { viewerErrors } from '../packages/viewer/src/index.ts';
import { claudeAgentErrors } from '../plugins/agent-claude/src/index.ts';
import { webErrors } from '../plugins/comm-web/src/index.ts';
import { scenarioErrors } from '../plugins/model-scripted/src/index.ts';

/** A family of errors as `docs/errors.md` shows it. */
export interface ErrorSection {
  readonly title: string;
  readonly guard: string;
  /** The folder of the package that declares it. */
  readonly folder: string;
  readonly family: Pick<ErrorFamily<string>, 'rows' | 'codes'>;
  /** Text above and below the table. */
  readonly before?: string;
  readonly after?: string;
}

/** Every family of the repository, in the order of `docs/errors.md`. A test compares this list with the sources. */
export const errorSections: readonly ErrorSection[] = [
  { title: 'The vocabulary', guard: 'isEventError', folder: 'packages/events', family: eventErrors },
  { title: 'Stores', guard: 'isStoreError', folder: 'packages/provider', family: storeErrors },
  {
    title: 'Plugins',
    guard: 'isPluginError',
    folder: 'packages/provider',
    family: pluginErrors,
    before:
      'In the order of the checks; the load report (`hansard plugins`) shows where each plugin stopped.',
  },
  { title: 'Dispatches', guard: 'isDispatchError', folder: 'packages/dispatch', family: dispatchErrors },
  { title: 'Sessions', guard: 'isSessionError', folder: 'packages/session', family: sessionErrors },
  { title: 'Contexts', guard: 'isContextError', folder: 'packages/prompt', family: contextErrors },
  {
    title: 'Other formats',
    guard: 'isFormatError',
    folder: 'packages/events',
    family: formatErrors,
    after:
      'Something unusual on a single line is not an error: a damaged line, a reference that leads nowhere, an id that occurs twice.\nThe line is kept, and the report has a diagnostic with file and line.',
  },
  { title: 'Imports', guard: 'isImportError', folder: 'packages/import', family: importErrors },
  { title: 'Redaction', guard: 'isRedactionError', folder: 'packages/redaction', family: redactionErrors },
  { title: 'Traces', guard: 'isTraceError', folder: 'packages/traces', family: traceErrors },
  {
    title: 'The live Claude agent',
    guard: 'isClaudeAgentError',
    folder: 'plugins/agent-claude',
    family: claudeAgentErrors,
    before: 'They end the dispatch as `crashed`, with the code in its `harness:error`.',
  },
  { title: 'The page of a run', guard: 'isWebError', folder: 'plugins/comm-web', family: webErrors },
  {
    title: 'Messages from the page of a run',
    guard: 'isViewerError',
    folder: 'packages/viewer',
    family: viewerErrors,
    before: 'The page shows them; they are the answers of the viewer to what it sends.',
  },
  {
    title: 'Scenarios',
    guard: 'isScenarioError',
    folder: 'plugins/model-scripted',
    family: scenarioErrors,
  },
];

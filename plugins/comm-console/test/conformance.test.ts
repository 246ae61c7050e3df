import { PassThrough } from 'node:stream';
import { communicationConformance } from '@hansard/provider-conformance';
import { describe, it } from 'vitest';
import { createConsole } from '../src/index.ts';
import { FakeOutput } from './make.ts';

for (const columns of [undefined, 80])
  communicationConformance.define({
    name: columns === undefined ? 'comm-console without a terminal' : `comm-console at ${columns} columns`,
    describe,
    it,
    scenarios: ['shows', 'delivers'],
    create: () => {
      const output = new FakeOutput(columns);
      const input = new PassThrough();
      return {
        provider: createConsole({ output, input, readAnyInput: true, color: false }),
        shown: () => output.shown.join('\n'),
        write: (text) => input.write(`${text}\n`),
        dispose: () => void input.destroy(),
      };
    },
  });

import { resolve } from 'node:path';
import { definePlugin } from '@hansard/provider';
import { createAiSdkModel } from './create-ai-sdk-model.ts';
import { importResolver } from './import-resolver.ts';

export { createAiSdkModel, type ModelResolver } from './create-ai-sdk-model.ts';

export default definePlugin({
  id: 'model-ai-sdk',
  provides: 'LanguageModelProvider',
  async create({ module }: { module: string }, { baseDir }) {
    return createAiSdkModel({ resolve: await importResolver(resolve(baseDir, module)) });
  },
});

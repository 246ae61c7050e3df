import { pathToFileURL } from 'node:url';
import { pluginErrors } from '@hansard/provider';
import type { ModelResolver } from './create-ai-sdk-model.ts';

/** @throws PLUGIN_CONFIG_INVALID where the module has no function as its default export */
export async function importResolver(path: string): Promise<ModelResolver> {
  const module: { readonly default?: unknown } = await import(pathToFileURL(path).href);
  if (typeof module.default === 'function') return module.default as ModelResolver;
  throw pluginErrors.error(
    'PLUGIN_CONFIG_INVALID',
    `The module ${path} has no function as its default export. Export one from the name of a model to a LanguageModel.`,
    { details: { plugin: 'model-ai-sdk', module: path } },
  );
}

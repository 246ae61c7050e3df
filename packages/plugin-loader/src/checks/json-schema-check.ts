import { didYouMean, findNotJson, messageOf } from '@hansard/events';
import { type PluginError, pluginErrors } from '@hansard/provider';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { previewWithoutSecrets } from './hide-secrets.ts';

// One instance for all plugins, because compiling the meta-schema takes 10 ms. Each plugin's own schemas have another
// instance, because the same $id may occur in two of them.
const metaSchema = new Ajv2020({ logger: false });

/**
 * A copy of a configuration with the defaults of any JSON Schema filled in.
 * @throws PLUGIN_CONFIG_SCHEMA_INVALID, PLUGIN_CONFIG_INVALID
 */
export function checkByJsonSchema(id: string, schema: Record<string, unknown>, config: unknown): unknown {
  const validate = compile(id, schema);
  const notJson = findNotJson(config);
  if (notJson !== null)
    throw invalid(id, [
      {
        path: ['config', notJson.path].filter((key) => key !== '').join('.'),
        value: Object.prototype.toString.call(notJson.value),
        message: 'must be a value that JSON can hold',
      },
    ]);
  const checked: unknown = structuredClone(config);
  if (validate(checked)) return checked;
  throw invalid(
    id,
    (validate.errors ?? []).map((error) => describe(error, checked)),
  );
}

function compile(id: string, schema: Record<string, unknown>): ValidateFunction {
  try {
    // An asynchronous schema returns a promise, which would count as valid.
    if ('$async' in schema) throw new TypeError('$async is not supported');
    metaSchema.validateSchema(schema, true);
    return new Ajv2020({
      validateSchema: false,
      allErrors: true,
      verbose: true,
      useDefaults: true,
      validateFormats: false,
      strictTypes: false,
      strictTuples: false,
      logger: false,
    }).compile(schema);
  } catch (cause) {
    throw pluginErrors.error(
      'PLUGIN_CONFIG_SCHEMA_INVALID',
      `The configSchema of plugin ${id} is not a usable JSON Schema (draft 2020-12): ${messageOf(cause)}. ` +
        'The author of the plugin must correct it.',
      { cause, details: { plugin: id } },
    );
  }
}

interface ConfigIssue {
  readonly path: string;
  readonly value: string;
  readonly message: string;
}

function invalid(id: string, issues: readonly ConfigIssue[]): PluginError {
  const text = issues.map(({ path, value, message }) => `${path} is ${value}: ${message}`).join('; ');
  return pluginErrors.error(
    'PLUGIN_CONFIG_INVALID',
    `The configuration of plugin ${id} is not valid: ${text}`,
    {
      details: { plugin: id, issues },
    },
  );
}

function describe(
  { instancePath, params, message, parentSchema }: ErrorObject,
  config: unknown,
): ConfigIssue {
  const keys = instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const property =
    params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName;
  if (typeof property === 'string') keys.push(property);
  const allowed = params.allowedValues ?? params.allowedValue;
  const unknown = params.additionalProperty ?? params.unevaluatedProperty;
  const meant =
    typeof unknown === 'string'
      ? didYouMean(unknown, Object.keys(parentSchema?.properties ?? {}))
      : undefined;
  return {
    path: ['config', ...keys].join('.'),
    value: previewWithoutSecrets(valueAt(config, keys), keys),
    message: [
      message ?? 'is not valid',
      allowed === undefined ? '' : `: ${JSON.stringify(allowed)}`,
      meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`,
    ].join(''),
  };
}

function valueAt(root: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    root,
  );
}

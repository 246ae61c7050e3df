import {
  GEN_AI_PROVIDER_NAME_VALUE_ANTHROPIC,
  GEN_AI_PROVIDER_NAME_VALUE_COHERE,
  GEN_AI_PROVIDER_NAME_VALUE_DEEPSEEK,
  GEN_AI_PROVIDER_NAME_VALUE_GCP_GEMINI,
  GEN_AI_PROVIDER_NAME_VALUE_MISTRAL_AI,
  GEN_AI_PROVIDER_NAME_VALUE_OPENAI,
  GEN_AI_PROVIDER_NAME_VALUE_X_AI,
} from '@opentelemetry/semantic-conventions/incubating';

const providers: readonly (readonly [model: RegExp, provider: string])[] = [
  [/^claude\b/, GEN_AI_PROVIDER_NAME_VALUE_ANTHROPIC],
  [/^(gpt|chatgpt|o\d)\b/, GEN_AI_PROVIDER_NAME_VALUE_OPENAI],
  [/^gemini\b/, GEN_AI_PROVIDER_NAME_VALUE_GCP_GEMINI],
  [/^deepseek\b/, GEN_AI_PROVIDER_NAME_VALUE_DEEPSEEK],
  [/^(mistral|magistral|codestral)\b/, GEN_AI_PROVIDER_NAME_VALUE_MISTRAL_AI],
  [/^grok\b/, GEN_AI_PROVIDER_NAME_VALUE_X_AI],
  [/^command\b/, GEN_AI_PROVIDER_NAME_VALUE_COHERE],
];

/**
 * The provider of a model, which the conventions require on each model call and events do not have. Derived from the
 * model's name; `_OTHER` if the name does not show it.
 */
export function providerNameOf(model: string): string {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return providers.find(([pattern]) => pattern.test(name))?.[1] ?? '_OTHER';
}

/** Before the file of a scenario, in the name of its model. */
const scripted = 'scripted:';

/** The name of a model in a trace. The model of a scenario is named by the scenario, without the place of its file. */
export function shownModel<T extends string | null>(model: T): T | string {
  if (model === null || !model.startsWith(scripted)) return model;
  const file = model.slice(
    Math.max(model.lastIndexOf('/'), model.lastIndexOf('\\'), scripted.length - 1) + 1,
  );
  return `${scripted}${file.replace(/\.(?:ya?ml|json)$/i, '')}`;
}

import type { CapturedEvent } from '@hansard/events';
import { contextErrors } from './context-errors.ts';
import { type ContextManifest, contextRendererVersion } from './context-manifest.ts';

/**
 * The manifest that was recorded with a model call (`agent:inference`), or null if it has none.
 *
 * @throws CONTEXT_MANIFEST_UNKNOWN for a manifest of another version, or a value that is not a manifest
 */
export function readContextManifest(inference: CapturedEvent): ContextManifest | null {
  const { context } = inference.data;
  if (context === undefined) return null;
  const manifest = context as unknown as Partial<ContextManifest> | null;
  const isKnown = manifest?.rendererVersion === contextRendererVersion;
  if (manifest !== null && isKnown && isWhole(manifest)) return manifest;
  throw contextErrors.error(
    'CONTEXT_MANIFEST_UNKNOWN',
    `The context of ${inference.id} was rendered by version ${JSON.stringify(manifest?.rendererVersion)}, and this version of Hansard knows version ${contextRendererVersion}: it can't be rendered again to the same bytes. Use the version of Hansard that recorded it.`,
    { details: { eventId: inference.id } },
  );
}

function isWhole(manifest: Partial<ContextManifest>): manifest is ContextManifest {
  const { policy, through, messages, tokens, parts, omitted, prefix, hash } = manifest;
  return (
    typeof policy?.name === 'string' &&
    (typeof through === 'string' || through === null) &&
    typeof messages === 'number' &&
    (tokens === null || typeof tokens?.prompt === 'number') &&
    Array.isArray(parts) &&
    typeof omitted === 'object' &&
    typeof prefix?.share === 'number' &&
    typeof hash === 'string'
  );
}

import { mapBoundary, mapMicrocompaction } from './map-compaction.ts';
import { mapModelMessage } from './map-model-message.ts';
import { mapAttachment, mapProgress } from './map-progress.ts';
import { mapPrompt } from './map-prompt.ts';
import { mapOther, mapStatus, mapTurnEnd } from './map-system-record.ts';
import type { TranscriptStep } from './transcript-step.ts';

type Mapper = (step: TranscriptStep) => void;

/** The mapper of each kind of record (`type`, or `type/subtype`). Any other is kept as `system:` and its own name. */
const mappers: ReadonlyMap<string, Mapper> = new Map(
  Object.entries({
    assistant: mapModelMessage,
    user: mapPrompt,
    progress: mapProgress,
    attachment: mapAttachment,
    mode: mapStatus,
    'permission-mode': mapStatus,
    'ai-title': mapStatus,
    'custom-title': mapStatus,
    'agent-name': mapStatus,
    'agent-setting': mapStatus,
    'bridge-session': mapStatus,
    'system/bridge_status': mapStatus,
    'system/stop_hook_summary': mapTurnEnd,
    'system/turn_duration': mapTurnEnd,
    'system/compact_boundary': mapBoundary,
    'system/microcompact_boundary': mapMicrocompaction,
  }),
);

export function mapRecord(step: TranscriptStep): void {
  const { type, subtype } = step.message;
  const mapper =
    (typeof subtype === 'string' ? mappers.get(`${String(type)}/${subtype}`) : undefined) ??
    mappers.get(String(type)) ??
    mapOther;
  mapper(step);
}

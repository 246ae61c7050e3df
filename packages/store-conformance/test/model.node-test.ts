import { describe, it } from 'node:test';
import { defineStoreConformance } from '../src/index.ts';
import { modelCapabilities, openModel } from './open-model.ts';

defineStoreConformance({
  name: 'the model',
  describe,
  it,
  capabilities: modelCapabilities,
  create: openModel,
});

import { describe, it } from 'vitest';
import { defineStoreConformance } from '../src/index.ts';
import { modelCapabilities, openAsyncModel, openModel } from './open-model.ts';

defineStoreConformance({
  name: 'the model, answering at once',
  describe,
  it,
  capabilities: modelCapabilities,
  create: openModel,
});

defineStoreConformance({
  name: 'the model, answering with promises',
  describe,
  it,
  capabilities: modelCapabilities,
  create: async () => openAsyncModel(),
});

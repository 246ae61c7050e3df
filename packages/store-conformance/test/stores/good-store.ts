import { modelCapabilities, openModel } from '../open-model.ts';

// biome-ignore lint/style/noDefaultExport: the command reads the default export
export default { capabilities: modelCapabilities, create: openModel };

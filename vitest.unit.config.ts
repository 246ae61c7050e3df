import { configFor, unitTests } from './vitest.config.ts';

/** `pnpm test:unit` */
export default configFor([unitTests]);

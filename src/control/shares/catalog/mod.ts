/** The shares in memory, which the overlay has as services. */
export { openShareCatalog } from './catalog-loader.ts';
export type { ShareCatalog } from './share-catalog.ts';
export { StateCounts } from './state-counts.ts';

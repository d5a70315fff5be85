/** What an administrator of the edge management API decided about the use of a router in paths. */
import type { EdgeEntityRecord } from '../records/edge-entity.ts';

export interface RouterTraits {
  /** Cost of entering the router, where it is above that of any router. */
  readonly cost: number;
  /** Circuits begin and end at the router, and none passes through. */
  readonly noTraversal: boolean;
  /** No control plane takes its control channel. */
  readonly isDisabled: boolean;
}

export const USUAL_TRAITS: RouterTraits = { cost: 0, noTraversal: false, isDisabled: false };

export function routerTraitsOf({ data }: EdgeEntityRecord): RouterTraits {
  const { cost, noTraversal, disabled } = data;
  return {
    cost: typeof cost === 'number' ? cost : 0,
    noTraversal: noTraversal === true,
    isDisabled: disabled === true,
  };
}

/** Stands at the addresses of pages that are not built yet. */
import type { ReactNode } from 'react';

export function Unbuilt(): ReactNode {
  return null;
}

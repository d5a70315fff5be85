/** The address of a page, whose file is loaded when it is opened. */
import { createRoute, type AnyRoute } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { laterPage } from './later-page.tsx';
import { searchOf } from './search-state.tsx';

/** `fields`: what the address keeps besides the page and the order of a list. */
export function pageRoute<Parent extends AnyRoute, const Path extends string, Name extends string>(
  parent: Parent,
  path: Path,
  fetchFile: () => Promise<{ readonly [K in Name]: ComponentType }>,
  name: Name,
  fields: readonly string[] = [],
) {
  return createRoute({
    getParentRoute: () => parent,
    path,
    validateSearch: searchOf(...fields),
    component: laterPage(fetchFile, name),
  });
}

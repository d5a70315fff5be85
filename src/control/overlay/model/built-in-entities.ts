/** Entities that every installation has. None can be deleted; a row of the store replaces the default authentication policy. */
import { DEFAULT_AUTH_POLICY } from './auth-policy.ts';
import { BUILT_IN_CONFIG_TYPES } from './built-in-config-types.ts';
import type { EdgeEntityKind, EdgeEntityRecord } from './edge-entity.ts';

const AUTH_POLICIES = [DEFAULT_AUTH_POLICY];
const NONE: readonly EdgeEntityRecord[] = [];

export function builtInEntities(kind: EdgeEntityKind): readonly EdgeEntityRecord[] {
  if (kind === 'config-type') return BUILT_IN_CONFIG_TYPES;
  return kind === 'auth-policy' ? AUTH_POLICIES : NONE;
}

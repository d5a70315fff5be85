/** What explanations need to know about a share: where it is served, and which providers guard it there. */
import type { Share } from '#domain';
import type { ExplainedProvider } from '#domain/access';
import { findAuthProvider } from '../records/auth-provider-store.ts';
import { findCustomFrontend } from '../records/custom-frontend-store.ts';
import { notFound } from './api-errors.ts';
import type { Call, ChangeParts } from './call.ts';

export function namesOf({ shareMode, frontends, customHosts }: Share): readonly string[] {
  return shareMode === 'private' ? [] : [...frontends, ...customHosts].map(({ host }) => host);
}

/** Returns the providers of the share under this name, or undefined if it is not served there. */
export function guardsOf(share: Share, host: string): readonly string[] | undefined {
  if (!namesOf(share).includes(host)) return undefined;
  return share.customHosts.find((custom) => custom.host === host)?.authProviderIds ?? share.authProviderIds;
}

/** Returns the share as it would be with other auth providers of its own. Throws `notFound` for one that does not exist. */
export async function withProviders(
  { store: { db } }: ChangeParts,
  { frontdoor }: Call,
  share: Share,
  wanted: readonly string[] | undefined,
): Promise<Share> {
  if (wanted === undefined) return share;
  const authProviderIds = [...new Set(wanted.map((id) => id.toLowerCase()))];
  const found = await Promise.all(authProviderIds.map((id) => findAuthProvider(db, frontdoor, id)));
  const lost = found.indexOf(undefined);
  if (lost !== -1) throw notFound('Auth provider', authProviderIds[lost]!);
  const customHosts = share.customHosts.map(async (custom) => {
    if (authProviderIds.length > 0) return { ...custom, authProviderIds };
    if (custom.customFrontendId === null) return { ...custom, authProviderIds };
    const zone = await findCustomFrontend(db, frontdoor, custom.customFrontendId);
    return { ...custom, authProviderIds: zone?.authProviderIds ?? [] };
  });
  return { ...share, authProviderIds, customHosts: await Promise.all(customHosts) };
}

export async function providersOf(
  parts: ChangeParts,
  call: Call,
  ids: readonly string[],
): Promise<ExplainedProvider[]> {
  const found = await Promise.all(ids.map((id) => findAuthProvider(parts.store.db, call.frontdoor, id)));
  return found
    .filter((provider) => provider !== undefined)
    .map(({ id, name, type, enabled, data, keys }) => {
      const items = (data['keys'] ?? []) as readonly { readonly name: string; readonly expiresAt?: string }[];
      return {
        id,
        name,
        type,
        enabled,
        keys: keys.map((key) => {
          const expiresAt = items.find((item) => item.name === key.name)?.expiresAt;
          return { name: key.name, expiresAtMs: expiresAt === undefined ? null : Date.parse(expiresAt) };
        }),
      };
    });
}

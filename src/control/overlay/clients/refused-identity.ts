/** Identifies the holder of a certificate of Frontdoor for the audit trail, whatever the reason of the refusal. */
import type { OverlayModel } from '../model/overlay-model.ts';
import type { ProvenLeaf } from '../../pki/mod.ts';
import { UNPROVEN, type RecordedRefusal } from '../../audit/mod.ts';

/** The organization of a deleted identity is not known, so its refusals are recorded in the installation's trail. */
export function refusedIdentity(
  model: Pick<OverlayModel, 'identity'>,
  proven: Pick<ProvenLeaf, 'id' | 'role'> | undefined,
): Pick<RecordedRefusal, 'owner' | 'actor'> {
  if (proven === undefined) return UNPROVEN;
  const { id, role } = proven;
  const known = model.identity(id);
  const kind = known?.kind ?? (role === 'router' ? 'router' : 'environment');
  return { owner: { ownerId: known?.ownerId ?? null }, actor: { kind, id } };
}

/** Converts `certificate has expired (details)` to `certificate-has-expired`. */
export function reasonOf(problem: string): string {
  return problem
    .replace(/ \(.*$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
}

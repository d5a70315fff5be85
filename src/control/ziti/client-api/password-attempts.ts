/**
 * The check of a stored password. Where the authentication policy of the identity limits wrong attempts, they are counted in
 * the store, for every control plane and restart, and the last one locks the password for the policy's time.
 */
import type { Clock } from '#base';
import { authPolicyOf, lockoutOf, type OverlayModel } from '../../overlay/model/mod.ts';
import { isPasswordOf } from '../../credentials/passwords/mod.ts';
import {
  countPasswordAttempt,
  endPasswordAttempts,
  type IdentityPassword,
} from '../../credentials/identities/mod.ts';
import type { Queries } from '../../store/mod.ts';

const MINUTE_MS = 60_000;

export interface PasswordCheckParts {
  readonly store: { readonly db: Queries };
  readonly model: OverlayModel;
  readonly clock: Clock;
}

/**
 * Whether the password of a guest at this address is right and not locked. Absent names and locked passwords cost as much as
 * wrong ones. Throws `PasswordQueueFull`: then the attempt is not counted.
 */
export async function acceptsPassword(
  { store: { db }, model, clock }: PasswordCheckParts,
  password: string,
  stored: IdentityPassword | undefined,
  address: string,
): Promise<boolean> {
  const lockout = stored && lockoutOf(authPolicyOf(model.edge, stored.identityId));
  if (stored === undefined || lockout === undefined)
    return isPasswordOf(password, stored?.passwordHash, { address });
  const { identityId } = stored;
  let counted = { attempts: 0, isLocked: true };
  const begun = async (): Promise<void> => {
    counted = await countPasswordAttempt(db, identityId, clock.nowMs());
  };
  const isRight = await isPasswordOf(password, stored.passwordHash, { address, begun });
  const { attempts, isLocked } = counted;
  // Later attempts of those that came at once do not count, because an earlier one may lock the password.
  if (isLocked || attempts > lockout.maxAttempts) return false;
  if (isRight) await endPasswordAttempts(db, identityId, null);
  else if (attempts === lockout.maxAttempts) {
    const { minutes } = lockout;
    const untilMs = minutes === 0 ? Number.MAX_SAFE_INTEGER : clock.nowMs() + minutes * MINUTE_MS;
    await endPasswordAttempts(db, identityId, untilMs);
  }
  return isRight;
}

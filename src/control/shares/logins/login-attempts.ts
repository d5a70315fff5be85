/**
 * Log-ins in progress, kept in the store so that any control plane can take the next step. Each step is one
 * conditional update, so that of several attempts one succeeds. State and code are stored as HMACs, verifier and
 * nonce encrypted.
 */
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import { LOGIN_ATTEMPT_TTL_MS, LOGIN_CODE_TTL_MS } from '#domain/gateway-shapes';
import type { Secrets } from '../../secrets/mod.ts';
import type { LoginAttemptTable, Queries } from '../../store/mod.ts';

export interface NewLoginAttempt {
  readonly state: string;
  readonly shareId: string;
  readonly providerId: string;
  readonly providerVersion: number;
  readonly host: string;
  readonly port: number;
  readonly browser: string;
  /** The key for limits. */
  readonly address: string;
  readonly secrets: AttemptSecrets;
  readonly nowMs: number;
}

const attemptSecretsSchema = Type.Object({
  /** Null without PKCE. */
  verifier: Part.nullable(Part.text()),
  nonce: Part.text(),
  returnTo: Part.text(),
});
export type AttemptSecrets = ShapeOf<typeof attemptSecretsSchema>;
const readAttemptSecrets = jsonReader(attemptSecretsSchema);

/**
 * Limits for pending log-ins. An address with too many at a share is refused further ones. Beyond the other limits, the
 * address with most of them loses its oldest, so that many addresses cannot block others.
 */
export const ATTEMPT_LIMITS = { everywhere: 20_000, share: 1_000, address: 200 } as const;

/** Returns false if its address has too many at the share. */
export async function insertAttempt(
  trx: Queries,
  secrets: Secrets,
  attempt: NewLoginAttempt,
): Promise<boolean> {
  const { nowMs, shareId, address } = attempt;
  const live = trx.selectFrom('login_attempt').where('expires_at', '>', nowMs);
  const ofShare = live.where('share_id', '=', shareId);
  if ((await countOf(ofShare.where('address', '=', address))) >= ATTEMPT_LIMITS.address) return false;
  if ((await countOf(ofShare)) >= ATTEMPT_LIMITS.share) await makeRoom(trx, shareId, nowMs);
  else if ((await countOf(live)) >= ATTEMPT_LIMITS.everywhere) {
    const fullest = await live
      .select('share_id')
      .groupBy('share_id')
      .orderBy((eb) => eb.fn.countAll(), 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    await makeRoom(trx, fullest.share_id, nowMs);
  }
  await trx
    .insertInto('login_attempt')
    .values({
      state_hmac: secrets.hmac(attempt.state),
      share_id: shareId,
      auth_provider_id: attempt.providerId,
      provider_version: attempt.providerVersion,
      host: attempt.host,
      port: attempt.port,
      browser: attempt.browser,
      address,
      secrets_sealed: secrets.seal(JSON.stringify(attempt.secrets)),
      created_at: nowMs,
      expires_at: nowMs + LOGIN_ATTEMPT_TTL_MS,
      returned_at: null,
      identity: null,
      code_hmac: null,
      redeemed_at: null,
    })
    .execute();
  return true;
}

type LiveAttempts = ReturnType<typeof attemptsAt>;

function attemptsAt(trx: Queries, shareId: string, nowMs: number) {
  return trx.selectFrom('login_attempt').where('expires_at', '>', nowMs).where('share_id', '=', shareId);
}

async function countOf(attempts: LiveAttempts): Promise<number> {
  const { count } = await attempts
    .select((eb) => eb.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Removes the oldest attempt of the address with most attempts at a share. Attempts that returned from their
 * provider are kept.
 */
async function makeRoom(trx: Queries, shareId: string, nowMs: number): Promise<void> {
  const waiting = attemptsAt(trx, shareId, nowMs).where('returned_at', 'is', null);
  const fullest = await waiting
    .select('address')
    .groupBy('address')
    .orderBy((eb) => eb.fn.countAll(), 'desc')
    .limit(1)
    .executeTakeFirst();
  if (fullest === undefined) return;
  const oldest = await waiting
    .select('state_hmac')
    .where('address', '=', fullest.address)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirstOrThrow();
  await dropAttempt(trx, oldest);
}

/**
 * The provider redirected the browser back. Succeeds once. Returns undefined if there is no such attempt.
 */
export function claimAttempt(
  db: Queries,
  secrets: Secrets,
  state: string,
  providerId: string,
  nowMs: number,
): Promise<LoginAttemptTable | undefined> {
  return db
    .updateTable('login_attempt')
    .set({ returned_at: nowMs })
    .where('state_hmac', '=', secrets.hmac(state))
    .where('auth_provider_id', '=', providerId)
    .where('returned_at', 'is', null)
    .where('expires_at', '>', nowMs)
    .returningAll()
    .executeTakeFirst();
}

/** The person was authenticated, so the attempt gets a code. Returns false if the attempt no longer exists. */
export async function grantCode(
  db: Queries,
  secrets: Secrets,
  attempt: Pick<LoginAttemptTable, 'state_hmac'>,
  granted: { readonly code: string; readonly identity: unknown; readonly nowMs: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('login_attempt')
    .set({
      identity: JSON.stringify(granted.identity),
      code_hmac: secrets.hmac(granted.code),
      expires_at: granted.nowMs + LOGIN_CODE_TTL_MS,
    })
    .where('state_hmac', '=', attempt.state_hmac)
    .where('returned_at', 'is not', null)
    .where('code_hmac', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Frees the room of an attempt that cannot continue. */
export async function dropAttempt(
  db: Queries,
  attempt: Pick<LoginAttemptTable, 'state_hmac'>,
): Promise<void> {
  await db.deleteFrom('login_attempt').where('state_hmac', '=', attempt.state_hmac).execute();
}

/** The browser presented the code at its share. Succeeds once. Another browser can neither use nor invalidate it. */
export async function redeemAttempt(
  trx: Queries,
  secrets: Secrets,
  code: { readonly code: string; readonly shareId: string; readonly host: string; readonly browser: string },
  nowMs: number,
): Promise<LoginAttemptTable | undefined> {
  const redeemed = await trx
    .updateTable('login_attempt')
    .set({ redeemed_at: nowMs })
    .where('code_hmac', '=', secrets.hmac(code.code))
    .where('share_id', '=', code.shareId)
    .where('host', '=', code.host)
    .where('browser', '=', code.browser)
    .where('redeemed_at', 'is', null)
    .where('expires_at', '>', nowMs)
    .returningAll()
    .executeTakeFirst();
  if (redeemed !== undefined) await dropAttempt(trx, redeemed);
  return redeemed;
}

/** Throws if the attempt is damaged. */
export function attemptSecrets(
  secrets: Secrets,
  attempt: Pick<LoginAttemptTable, 'secrets_sealed'>,
): AttemptSecrets {
  return readAttemptSecrets(secrets.unseal(attempt.secrets_sealed));
}

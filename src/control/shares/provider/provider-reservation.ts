/**
 * IDs of auth providers that do not exist yet. The callback URLs of a provider have its ID, and identity providers ask for
 * them before they show a client ID. A reservation is a sealed text that its holder sends with the creation: nothing is
 * stored for it, and nobody chooses an ID.
 */
import { randomUUID } from 'node:crypto';
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import { invalidValue } from '#domain';
import type { Secrets } from '../../secrets/mod.ts';

/** Registering an application may need the help of colleagues. */
const RESERVATION_MS = 7 * 86_400_000;

const reservationSchema = Type.Object({
  /** Distinguishes it from other sealed texts. */
  purpose: Part.oneOf('auth-provider'),
  frontdoorId: Part.text(),
  id: Part.text(),
  expiresAtMs: Type.Number(),
});
type Reservation = ShapeOf<typeof reservationSchema>;
const readReservation = jsonReader(reservationSchema);

export function makeReservation(
  secrets: Pick<Secrets, 'seal'>,
  frontdoorId: string,
  nowMs: number,
): { readonly id: string; readonly reservation: string; readonly expiresAtMs: number } {
  const id = randomUUID();
  const expiresAtMs = nowMs + RESERVATION_MS;
  const reserved: Reservation = { purpose: 'auth-provider', frontdoorId, id, expiresAtMs };
  return { id, reservation: secrets.seal(JSON.stringify(reserved)), expiresAtMs };
}

/**
 * Returns the reserved ID.
 * @throws FrontdoorError `invalid` for the reservation of another frontdoor or installation, and for one that has expired
 */
export function reservedId(
  secrets: Pick<Secrets, 'unseal'>,
  frontdoorId: string,
  reservation: string,
  nowMs: number,
): string {
  const found = opened(secrets, reservation);
  if (found === undefined || found.frontdoorId !== frontdoorId || found.expiresAtMs <= nowMs)
    throw invalidValue('reservation', 'a reservation of this frontdoor that has not expired');
  return found.id;
}

function opened(secrets: Pick<Secrets, 'unseal'>, reservation: string): Reservation | undefined {
  try {
    return readReservation(secrets.unseal(reservation));
  } catch {
    // Another installation, or nobody, has sealed it.
    return undefined;
  }
}

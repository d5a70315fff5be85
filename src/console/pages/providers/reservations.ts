/**
 * The ID that the next provider of a frontdoor will have, with its callback URLs. It stays the same until a provider is made
 * with it, because someone may have registered the URLs already.
 */
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import type { AnsweredCall } from '../../api/call.ts';
import { useProgram } from '../../api/program.tsx';
import { useSession } from '../../api/session.tsx';

type Reserved = AnsweredCall<'reserveAuthProvider'>;

class Reservations {
  readonly #kept = new Map<string, Promise<Reserved>>();

  of(frontdoorId: string, reserve: () => Promise<Reserved>): Promise<Reserved> {
    const kept = this.#kept.get(frontdoorId);
    if (kept !== undefined) return kept;
    const reserved = reserve();
    this.#kept.set(frontdoorId, reserved);
    reserved.catch(() => this.#kept.delete(frontdoorId));
    return reserved;
  }

  drop(frontdoorId: string): void {
    this.#kept.delete(frontdoorId);
  }
}

export interface ReservationState {
  readonly answer: UseQueryResult<Reserved>;
  /** What the creation sends. */
  readonly field: { readonly reservation?: string };
  /** A provider was made with it. */
  used(): void;
  /** It cannot be used, so that another one is needed. */
  replace(): void;
}

/** `isNeeded` is false for a type without callback URLs. */
export function useReservation(frontdoorId: string, isNeeded: boolean): ReservationState {
  const { api, partOf } = useProgram();
  const { may } = useSession();
  const client = useQueryClient();
  const reservations = partOf(Reservations);
  const queryKey = ['reserveAuthProvider', frontdoorId];
  const answer = useQuery({
    queryKey,
    queryFn: () =>
      reservations.of(frontdoorId, () => api.call('reserveAuthProvider', { parameters: { frontdoorId } })),
    enabled: isNeeded && may('createAuthProvider'),
  });
  const { data } = answer;
  return {
    answer,
    field: data === undefined ? {} : { reservation: data.body.reservation },
    used: () => {
      reservations.drop(frontdoorId);
      client.removeQueries({ queryKey });
    },
    replace: () => {
      reservations.drop(frontdoorId);
      void client.resetQueries({ queryKey });
    },
  };
}

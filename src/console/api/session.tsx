/** The person at the console, and the operations that the role permits. The server decides; the console only shows it. */
import { createContext, useContext, useEffect, type ReactNode } from 'react';
import type { OperationId } from '#contract';
import type { CallerAnswer } from '#contract/schemas';
import { OPERATIONS } from 'frontdoor:operations';
import { useAnswer } from './queries.ts';
import { noteSession } from './session-end.ts';

export interface CallerSession {
  readonly caller: CallerAnswer;
  /** Whether the person's role permits the operation. */
  may(id: OperationId): boolean;
  readonly isOperator: boolean;
}

const SessionContext = createContext<CallerSession | undefined>(undefined);

const ADMIN = 'frontdoor.admin';
const ORGANIZATION = 'frontdoor.organization';

export function sessionOf(caller: CallerAnswer): CallerSession {
  const isOperator = caller.scopes.includes(ADMIN);
  return {
    caller,
    isOperator,
    may: (id) => {
      const { scope } = OPERATIONS[id];
      if (scope === undefined || caller.scopes.includes(scope)) return true;
      return scope === ORGANIZATION && isOperator;
    },
  };
}

/** The session of a person who is known already. */
export function GivenSession(props: {
  readonly caller: CallerAnswer;
  readonly children: ReactNode;
}): ReactNode {
  return <SessionContext value={sessionOf(props.caller)}>{props.children}</SessionContext>;
}

export function SessionProvider(props: {
  readonly children: ReactNode;
  readonly waiting: ReactNode;
  readonly failed: (error: Error, again: () => void) => ReactNode;
}): ReactNode {
  const { data, error, refetch } = useAnswer('getCaller', {});
  const isValid = data !== undefined;
  useEffect(() => {
    if (isValid) noteSession('valid');
  }, [isValid]);
  if (data !== undefined) return <GivenSession caller={data.body}>{props.children}</GivenSession>;
  return error === null ? props.waiting : props.failed(error, () => void refetch());
}

export function useSession(): CallerSession {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('no SessionProvider');
  return session;
}

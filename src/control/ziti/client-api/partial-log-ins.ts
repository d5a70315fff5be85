/**
 * Log-ins that wait for their second factor. Nothing about them is kept: the client carries a sealed text as its token,
 * which opens nothing else, until the code makes it the token of a session.
 */
import type { Clock } from '#base';
import type { Secrets } from '../../secrets/mod.ts';
import type { SessionWay } from '../../overlay/clients/mod.ts';
import type { LogInWish } from './log-in-body.ts';

const LIFETIME_MS = 10 * 60_000;
const OPENER = 'edge API: log-in without its second factor';
const MAX_TOKEN_CHARS = 16_384;

export interface PartialLogIn extends LogInWish, Pick<SessionWay, 'method' | 'signerId'> {
  /** Id of the session that begins with the code. */
  readonly sessionId: string;
  readonly identityId: string;
  readonly startedAtMs: number;
}

export class PartialLogIns {
  readonly #secrets: Pick<Secrets, 'seal' | 'unseal'>;
  readonly #clock: Clock;

  constructor(secrets: Pick<Secrets, 'seal' | 'unseal'>, clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  tokenOf(login: PartialLogIn): string {
    return this.#secrets.seal(JSON.stringify(login), OPENER);
  }

  /** Returns undefined for other tokens, and after ten minutes. */
  of(token: string): PartialLogIn | undefined {
    if (token === '' || token.length > MAX_TOKEN_CHARS) return undefined;
    try {
      const login = JSON.parse(this.#secrets.unseal(token, OPENER)) as PartialLogIn;
      return login.startedAtMs + LIFETIME_MS > this.#clock.nowMs() ? login : undefined;
    } catch {
      return undefined;
    }
  }

  endsAtMs({ startedAtMs }: PartialLogIn): number {
    return startedAtMs + LIFETIME_MS;
  }
}
